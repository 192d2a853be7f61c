import type { Clock } from "../core/clock.ts";

/** A clock that stands still until it is moved. */
export interface ManualClock extends Clock {
  /** Moves it forward. */
  advance(ms: number): void;
}

/**
 * A clock for tests: `new PorticoApp({ clock })`, then `clock.advance(1_000)`.
 *
 * @param start milliseconds since 1970
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { manualClock } from "portico/testing";
 *
 * const clock = manualClock();
 * const app = new PorticoApp({ clock });
 * clock.advance(60_000);
 * ```
 */
export function manualClock(start = 0): ManualClock {
  let elapsed = 0;
  return {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`a clock goes forward, not by ${ms} ms`);
      elapsed += ms;
    },
  };
}
