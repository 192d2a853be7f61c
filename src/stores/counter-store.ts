import type { StoreLifeCycle } from "./store-life-cycle.ts";

/** What a counter stands at. */
export interface Count {
  /** Hits in this window, the one that asked among them. */
  readonly value: number;
  /** How long until the window ends, in milliseconds: a length of time, since the store's clock may not be ours. */
  readonly resetAfterMs: number;
}

/**
 * Counts hits per key in windows of time, for limits.
 *
 * A window starts at the first hit and is over `windowMs` later, however many hits follow; the next hit then starts
 * another. Each hit is counted once, also between processes. The same key with another `windowMs` is another counter.
 * Counts may be lost with the store: nothing but limits is built on them. A key is any text, also one that a client made up: no
 * text makes a store fail, and no two texts are one key.
 *
 * @example
 * ```ts
 * import type { CounterStore } from "portico";
 *
 * async function mayTry(counters: CounterStore, account: string): Promise<boolean> {
 *   const { value } = await counters.increment(`login:${account}`, 15 * 60_000);
 *   return value <= 5;
 * }
 * ```
 */
export interface CounterStore extends StoreLifeCycle {
  /**
   * Counts one hit. `windowMs` is a whole number of milliseconds from 1 to 2,147,483,647 (24 days), else the promise
   * rejects with `RangeError`.
   */
  increment(key: string, windowMs: number): Promise<Count>;
  /** Forgets the hits of a key in windows of this length. Rejects as `increment` does. */
  reset(key: string, windowMs: number): Promise<void>;
  /** Forgets the hits of every key, for tests; a store may be without it. Rejects when it does not answer. */
  resetAll?(): Promise<void>;
}

/** Node's timers fire at once beyond it. */
const LONGEST = 2_147_483_647;

/** Throws `RangeError` for a window that not every store can count. Each store calls it before it counts. */
export function checkWindow(windowMs: number): void {
  if (Number.isInteger(windowMs) && windowMs >= 1 && windowMs <= LONGEST) return;
  throw new RangeError(`windowMs must be a whole number of milliseconds from 1 to ${LONGEST}, received ${windowMs}`);
}
