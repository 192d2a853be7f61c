import type { StoreLifeCycle } from "./store-life-cycle.ts";

/** The current state of a counter. */
export interface Count {
  /** The number of hits in this window, including the current one. */
  readonly value: number;
  /** The time until the window ends, in milliseconds. It is a duration because the store's clock may differ from ours. */
  readonly resetAfterMs: number;
}

/**
 * Counts hits per key in time windows, for rate limits.
 *
 * A window starts at the first hit and ends `windowMs` later, regardless of further hits; the next hit then starts a new one.
 * Each hit is counted once, also between processes. One key with two values of `windowMs` has two counters. Counters may be
 * lost with the store, so use them only for limits. A key is any text, even one that a client made up: no text makes a store
 * fail, and two different texts are two keys.
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
   * Counts one hit. `windowMs` is a whole number of milliseconds from 1 to 2,147,483,647 (24 days); otherwise the promise
   * rejects with `RangeError`.
   */
  increment(key: string, windowMs: number): Promise<Count>;
  /** Forgets the hits of a key in windows of this length. Rejects as `increment` does. */
  reset(key: string, windowMs: number): Promise<void>;
  /** Forgets the hits of every key, for tests. A store may omit it. Rejects if the store does not respond. */
  resetAll?(): Promise<void>;
}

/** Node's timers fire at once beyond this value. */
const LONGEST = 2_147_483_647;

/** Throws `RangeError` for a window that some stores cannot count. Each store calls it before it counts. */
export function checkWindow(windowMs: number): void {
  if (Number.isInteger(windowMs) && windowMs >= 1 && windowMs <= LONGEST) return;
  throw new RangeError(`windowMs must be a whole number of milliseconds from 1 to ${LONGEST}, received ${windowMs}`);
}
