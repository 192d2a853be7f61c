import type { Kind } from "./totals.ts";

const wholes = new Intl.NumberFormat("en");
const shorts = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

/** A whole number. */
export const whole = (value: number): string => wholes.format(value);

/** A number with three digits. */
export const short = (value: number): string => shorts.format(value);

export const perSecond = (value: number): string => `${short(value)}/s`;

export const percent = (value: number): string => `${short(value * 100)} %`;

/** A duration in the unit that fits. */
export function time(seconds: number): string {
  if (seconds >= 1) return `${short(seconds)} s`;
  if (seconds >= 0.001) return `${short(seconds * 1000)} ms`;
  return seconds === 0 ? "0" : `${short(seconds * 1e6)} µs`;
}

/** A number of operations or requests. */
export function things(count: number, kind: Kind | null): string {
  return `${whole(count)} ${kind === "routes" ? "request" : "operation"}${count === 1 ? "" : "s"}`;
}
