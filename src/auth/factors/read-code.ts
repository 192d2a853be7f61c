declare const isCode: unique symbol;

/** A numeric code that a user typed: ASCII digits only. */
export type TypedCode = string & { readonly [isCode]: true };

/**
 * Parses the numeric code of an authenticator app or an email; `null` if it is not exactly `digits` ASCII digits. Whitespace is
 * removed, because apps show a code in two groups. Digits of other scripts have another length in bytes, which comparisons in
 * constant time reject with an exception.
 */
export function readCode(text: string, digits: number): TypedCode | null {
  const code = text.replace(/\s/g, "");
  return code.length === digits && /^[0-9]+$/.test(code) ? (code as TypedCode) : null;
}
