import { ConfigurationError } from "./configuration-error.ts";
import { type OptionRule, REFUSED } from "./resolve-options.ts";

/** Bytes, or a number with its unit: `"2mb"`. Pass untyped text through `parseSize`. */
export type Size = number | `${number}${"b" | "kb" | "mb" | "gb"}`;

const UNITS: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };
const EXPECTED = 'a size such as "512kb" or "2mb" (a kb is 1,024 bytes), or a whole number of bytes';

/**
 * Converts a size to bytes: `"1kb"` is 1,024. Throws `ConfigurationError` for an invalid size.
 *
 * @example
 * ```ts
 * import { parseSize } from "portico";
 *
 * parseSize("2mb"); // 2097152
 * ```
 */
export function parseSize(text: string): number {
  const bytes = toBytes(text);
  if (bytes === REFUSED) throw new ConfigurationError("size", EXPECTED, text);
  return bytes;
}

/** An option that takes a `Size` and resolves to bytes. */
export const size: OptionRule<number> = { expected: EXPECTED, read: toBytes };

function toBytes(value: unknown): number | typeof REFUSED {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? value : REFUSED;
  const match = typeof value === "string" ? /^(\d{1,15}(?:\.\d{1,6})?)\s?(b|kb|mb|gb)$/i.exec(value) : null;
  if (match === null) return REFUSED;
  const bytes = Math.round(Number(match[1]) * (UNITS[(match[2] as string).toLowerCase()] as number));
  return Number.isSafeInteger(bytes) ? bytes : REFUSED;
}
