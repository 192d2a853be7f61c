import { InvalidPageError, InvalidPageSizeError } from "./pagination-error.ts";

/** Query parameters as they were sent. A repeated parameter is a list. */
export type QueryParams = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The limits of a page size, and how a larger size is handled. */
export interface SizeLimits {
  readonly least: number;
  readonly fallback: number;
  readonly max: number;
  readonly overMax: "clamp" | "reject";
}

const MAX_DIGITS = 30;
const NUMBER = /^-?(?:0|[1-9][0-9]*)$/;

/** Reads a page number or an offset: canonical ASCII digits, exact. Throws `InvalidPageError`. */
export function readPosition(params: QueryParams, parameter: string, least: number, fallback: number): number {
  const text = readText(params, parameter);
  if (text === undefined) return fallback;
  const refuse = (reason: string): InvalidPageError => new InvalidPageError(`${parameter} ${reason}`, { parameter });
  if (typeof text !== "string") throw refuse(text.reason);
  if (!isNumber(text)) throw refuse(`${text === "" ? "is empty: it " : ""}must be a whole number of at least ${least}`);
  const value = Number(text);
  if (text === "-0" || value < least) throw refuse(`must be at least ${least}`);
  if (!Number.isSafeInteger(value)) throw refuse("is too large");
  return value;
}

/** Reads a page size or a limit. A value above the maximum is clamped or rejected. Throws `InvalidPageSizeError`. */
export function readSize(params: QueryParams, parameter: string, limits: SizeLimits): number {
  const { least, fallback, max, overMax } = limits;
  const text = readText(params, parameter);
  if (text === undefined) return fallback;
  const refuse = (reason: string): InvalidPageSizeError =>
    new InvalidPageSizeError(`${parameter} ${reason}`, { parameter });
  if (typeof text !== "string") throw refuse(text.reason);
  if (!isNumber(text)) throw refuse(`${text === "" ? "is empty: it " : ""}must be a whole number of at least ${least}`);
  // Numbers of up to 30 digits may be rounded, but the comparison with the maximum stays correct.
  const value = Number(text);
  if (text === "-0" || value < least) throw refuse(`must be at least ${least}`);
  if (value > max && overMax === "reject") throw refuse(`must be at most ${max}`);
  return Math.min(value, max);
}

/** Returns the single value of a parameter, or the reason why it does not have one. */
export function readText(
  params: QueryParams,
  parameter: string,
): string | undefined | { readonly reason: "was given more than once" | "must be a single value" } {
  const value: unknown = Object.hasOwn(params, parameter) ? params[parameter] : undefined;
  if (value === undefined || typeof value === "string") return value;
  return { reason: Array.isArray(value) ? "was given more than once" : "must be a single value" };
}

/** The length is checked first, so that ten thousand digits cost nothing. */
function isNumber(text: string): boolean {
  return text.length <= MAX_DIGITS + 1 && NUMBER.test(text) && text.replace("-", "").length <= MAX_DIGITS;
}
