import { type OptionRule, withMethod } from "../core/resolve-options.ts";
import type { StoreLifeCycle } from "./store-life-cycle.ts";

/**
 * Keeps text under a key until it is deleted or expires: sessions, refresh token families, keys.
 *
 * Every method works on one key and is atomic, in one process and between processes: a check and the write that follows it are
 * one step. A store may fail, but it does not forget: an entry without a TTL stays until it is deleted, and a store without
 * room rejects. A key is any text; a value is text that UTF-8 can represent, without U+0000.
 *
 * `ttlMs` is a whole number of milliseconds, 1 or more; otherwise the promise rejects with `RangeError`. A write replaces the
 * TTL of the entry as well: without `ttlMs` it stays until it is deleted. Every method treats an expired entry as absent.
 *
 * @example
 * ```ts
 * import type { KeyValueStore } from "portico";
 *
 * async function visits(store: KeyValueStore, visitor: string): Promise<number> {
 *   const seen = await store.get(visitor);
 *   const count = Number(seen ?? 0) + 1;
 *   // Another process was faster, so count again on top of its value.
 *   return (await store.compareAndSet(visitor, seen, String(count), 86_400_000)) ? count : visits(store, visitor);
 * }
 * ```
 */
export interface KeyValueStore extends StoreLifeCycle {
  /** Whether its server is connected at the moment, as far as it knows. It is shown in metrics. */
  readonly isConnected?: boolean;
  /** The value, or `null` if there is none. */
  get(key: string): Promise<string | null>;
  /** Writes the value and replaces an existing one. */
  set(key: string, value: string, ttlMs?: number): Promise<void>;
  /** Writes the value if there is none yet, and returns whether it did. Of several callers exactly one gets `true`. */
  setIfAbsent(key: string, value: string, ttlMs?: number): Promise<boolean>;
  /**
   * Writes the value if the current one is `expected`, and returns whether it did. Of several callers with the same `expected`
   * exactly one gets `true`. `null` means that there is no value.
   */
  compareAndSet(key: string, expected: string | null, value: string, ttlMs?: number): Promise<boolean>;
  /**
   * Deletes the value, and returns whether there was one. Of several callers exactly one gets `true`, so a single-use token can
   * be redeemed this way.
   */
  delete(key: string): Promise<boolean>;
  /**
   * Resolves if everything that was written so far to the server of this key survives the loss of that server, and rejects with a
   * 503 otherwise. It is called before and after each revocation. A store without it keeps every write, or has one server.
   */
  confirm?(key: string): Promise<void>;
  /**
   * The time on the store's server, in milliseconds since 1970. Sessions expire by this clock instead of the clock of each
   * process, and a process whose clock is more than a minute off does not start. Without it, each process uses its own clock.
   */
  time?(): Promise<number>;
}

/** Throws `RangeError` for a TTL that some stores cannot keep. Each store calls it before it writes. */
export function checkTtl(ttlMs: number | undefined): void {
  if (ttlMs === undefined || (Number.isSafeInteger(ttlMs) && ttlMs > 0)) return;
  throw new RangeError(`ttlMs must be a whole number of milliseconds, 1 or more, received ${ttlMs}`);
}

/** An option that takes a key-value store. */
export const keyValueStore: OptionRule<KeyValueStore> = withMethod("a KeyValueStore", "compareAndSet");
