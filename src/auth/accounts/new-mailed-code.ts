import { randomInt } from "node:crypto";

/** The length of such a code. */
export const CODE_DIGITS = 8;

/** Makes a code that a person types from an email. */
export function newMailedCode(): string {
  return String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, "0");
}
