import type { Clock } from "../core/clock.ts";

/** A clock that moves only when it is advanced. */
export interface ManualClock extends Clock {
  /** Moves the clock forward. */
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
      if (!(ms >= 0)) throw new RangeError(`advance() takes milliseconds of at least 0, received ${ms}`);
      elapsed += ms;
    },
  };
}
