import { type OptionRule, optionRule } from "./resolve-options.ts";

/** The source of time. Tests pass a clock that they move by hand. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds on a clock that never goes back, for durations. */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** An option that takes a `Clock`. */
export const clockRule: OptionRule<Clock> = optionRule("a clock with now() and monotonic()", (value) => {
  const clock = value as Partial<Clock> | null;
  return typeof clock?.now === "function" && typeof clock.monotonic === "function";
});
