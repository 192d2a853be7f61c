import type { StoreLifeCycle } from "./store-life-cycle.ts";

/** The current state of a counter. */
export interface Count {
  /** The number of hits in this window, including the current one. */
  readonly value: number;
  /** The time until the window ends, in milliseconds. It is a duration because the store's clock may differ from ours. */
  readonly resetAfterMs: number;
}

/** The result of `CounterStore.reserve`. */
export interface Reservation extends Count {
  /** Whether the units were counted. If not, `value` is the count without them. */
  readonly isGranted: boolean;
  /**
   * Takes back some of the units. It has no effect after the end of the window, or if the units were not granted. Rejects if
   * the store does not respond; the units then stay counted until the window ends.
   */
  refund(units: number): Promise<void>;
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
  /** Whether its server is connected at the moment, as far as it knows. It is shown in metrics. */
  readonly isConnected?: boolean;
  /**
   * Counts one hit. `windowMs` is a whole number of milliseconds from 1 to 2,147,483,647 (24 days); otherwise the promise
   * rejects with `RangeError`.
   */
  increment(key: string, windowMs: number): Promise<Count>;
  /**
   * Counts several hits at once, the units of an operation, if the count then is at most `limit`. Otherwise it counts nothing.
   * It is one atomic step, also between processes, so the granted units never exceed the limit in a window. `units` and
   * `limit` are whole numbers from 1 to 1,000,000,000; otherwise the promise rejects with `RangeError`. A store may omit it;
   * the app's option `budget` requires it.
   */
  reserve?(key: string, windowMs: number, units: number, limit: number): Promise<Reservation>;
  /** Forgets the hits of a key in windows of this length. Rejects as `increment` does. */
  reset(key: string, windowMs: number): Promise<void>;
  /** Forgets the hits of every key, for tests. A store may omit it. Rejects if the store does not respond. */
  resetAll?(): Promise<void>;
}

/** Node's timers fire at once beyond this value. */
const MAX_LENGTH = 2_147_483_647;

/** Throws `RangeError` for a window that some stores cannot count. Each store calls it before it counts. */
export function checkWindow(windowMs: number): void {
  if (Number.isInteger(windowMs) && windowMs >= 1 && windowMs <= MAX_LENGTH) return;
  throw new RangeError(`windowMs must be a whole number of milliseconds from 1 to ${MAX_LENGTH}, received ${windowMs}`);
}

/** The counts of all stores stay below 2^31 with it. */
export const MAX_UNITS = 1_000_000_000;

/** Throws `RangeError` for a reservation that some stores cannot count. Each store calls it before it counts. */
export function checkReservation(windowMs: number, units: number, limit: number): void {
  checkWindow(windowMs);
  for (const [name, value] of [["units", units] as const, ["limit", limit] as const])
    if (!Number.isInteger(value) || value < 1 || value > MAX_UNITS)
      throw new RangeError(`${name} must be a whole number from 1 to ${MAX_UNITS}, received ${value}`);
}
