import { type Rule, thing } from "../core/resolve-options.ts";
import type { StoreLifeCycle } from "./store-life-cycle.ts";

/**
 * Where text is kept under a key until it is deleted or its time is over: sessions, refresh families, keys.
 *
 * Every method works on one key and is atomic, in one process and between processes: a check and the write that follows
 * it are one step. A store may fail, it does not forget: an entry without a time stays until it is deleted, and a store
 * that has no room left rejects. A key is any text; a value is text that UTF-8 can carry, without U+0000.
 *
 * `ttlMs` is a whole number of milliseconds, 1 or more, else the promise rejects with `RangeError`. A write replaces the
 * time of the entry as well: without `ttlMs` it stays until it is deleted. An entry whose time is over is not there for
 * any method.
 *
 * @example
 * ```ts
 * import type { KeyValueStore } from "portico";
 *
 * async function visits(store: KeyValueStore, visitor: string): Promise<number> {
 *   const seen = await store.get(visitor);
 *   const count = Number(seen ?? 0) + 1;
 *   // Somebody else was faster: count again on top of theirs.
 *   return (await store.compareAndSet(visitor, seen, String(count), 86_400_000)) ? count : visits(store, visitor);
 * }
 * ```
 */
export interface KeyValueStore extends StoreLifeCycle {
  /** The value, or `null` when there is none. */
  get(key: string): Promise<string | null>;
  /** Writes the value, whatever was there. */
  set(key: string, value: string, ttlMs?: number): Promise<void>;
  /** Writes the value if there is none yet, and says whether it did: of several callers one is told `true`. */
  setIfAbsent(key: string, value: string, ttlMs?: number): Promise<boolean>;
  /**
   * Writes the value if the present one is `expected`, and says whether it did: of several callers with the same
   * expectation one is told `true`. `null` expects that there is none.
   */
  compareAndSet(key: string, expected: string | null, value: string, ttlMs?: number): Promise<boolean>;
  /** Deletes the value, and says whether there was one: of several callers one is told `true`, so it spends a token. */
  delete(key: string): Promise<boolean>;
  /**
   * The time by the clock of the server behind it, in milliseconds since 1970. Sessions end by it, not by the clock of the
   * process that is asked, and a process whose clock is more than a minute off does not start. Without it, each process goes
   * by its own clock.
   */
  time?(): Promise<number>;
}

/** Throws `RangeError` for a time that not every store can keep. Each store calls it before it writes. */
export function checkTtl(ttlMs: number | undefined): void {
  if (ttlMs === undefined || (Number.isSafeInteger(ttlMs) && ttlMs > 0)) return;
  throw new RangeError(`ttlMs must be a whole number of milliseconds, 1 or more, received ${ttlMs}`);
}

/** An option that takes what stores a value under a key. */
export const keyValueStore: Rule<KeyValueStore> = thing(
  "a KeyValueStore",
  (value) => typeof (value as Partial<KeyValueStore> | null)?.compareAndSet === "function",
);
