import { isStreamSafe } from "../../core/is-stream-safe.ts";
import { BadRequest, HttpException } from "../../kernel/exceptions/http-exception.ts";

const MIN_BYTES = 8;
const MAX_BYTES = 1_024;
/** NFKC shrinks a text to a quarter at most, so a longer text is always too long. */
const MAX_UNITS = 4 * MAX_BYTES;

/** A password as it was entered. */
export interface PasswordAttempt {
  /** The text in NFKC, which is hashed, so that it does not matter how a keyboard composes characters. */
  readonly normal: Uint8Array;
  /** The text as it was entered, if it differs, because other systems have hashed that. */
  readonly raw: Uint8Array | null;
  /** Whether it is long enough for a new password. */
  readonly isLongEnough: boolean;
}

/**
 * Reads a password of a sign-in attempt, which may be shorter than a new one. Throws 422 if it is too long or not valid
 * Unicode, and 400 if it is not a string.
 */
export function readAttempt(password: unknown): PasswordAttempt {
  if (typeof password !== "string") throw new BadRequest("The password must be a string");
  // UTF-8 encodes every lone surrogate as the same replacement character, so different passwords would become equal.
  if (!password.isWellFormed())
    throw refuse("PASSWORD_NOT_TEXT", "The password contains an invalid Unicode character.");
  if (password.length > MAX_UNITS) throw tooLong();
  if (!isStreamSafe(password))
    throw refuse("PASSWORD_NOT_TEXT", "The password has more than 30 combining marks in a row.");
  const text = password.normalize("NFKC");
  const normal = Buffer.from(text);
  if (normal.length > MAX_BYTES) throw tooLong();
  return { normal, raw: text === password ? null : Buffer.from(password), isLongEnough: normal.length >= MIN_BYTES };
}

/** Reads a new password. Throws 422 also if it is too short. */
export function readNewPassword(password: unknown): Uint8Array {
  const { normal, isLongEnough } = readAttempt(password);
  if (!isLongEnough) throw refuse("PASSWORD_TOO_SHORT", `The password must be at least ${MIN_BYTES} bytes long.`);
  return normal;
}

function tooLong(): HttpException {
  return refuse("PASSWORD_TOO_LONG", `The password must be at most ${MAX_BYTES} bytes long.`);
}

function refuse(
  code: "PASSWORD_NOT_TEXT" | "PASSWORD_TOO_LONG" | "PASSWORD_TOO_SHORT",
  message: string,
): HttpException {
  return new HttpException(422, message, { code });
}
