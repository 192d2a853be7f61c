import { isStreamSafe } from "../../core/is-stream-safe.ts";
import { BadRequest, HttpException } from "../../http/context/http-exception.ts";

const LEAST_BYTES = 8;
const MOST_BYTES = 1_024;
/** NFKC makes four times less of a text at most: a longer one is too long, whatever it is made of. */
const MOST_UNITS = 4 * MOST_BYTES;

/** A password as somebody typed it in. */
export interface PasswordAttempt {
  /** What is hashed: the text in NFKC, so that it does not matter how a keyboard composes its letters. */
  readonly normal: Uint8Array;
  /** The text as it came, where that is another: what other systems have hashed. */
  readonly raw: Uint8Array | null;
  /** Whether it is long enough for a new hash. */
  readonly isLongEnough: boolean;
}

/**
 * Reads a password that may be an old one, and so shorter than a new one. Throws 422 for one that is too long or no text, 400
 * for what is no string.
 */
export function readAttempt(password: unknown): PasswordAttempt {
  if (typeof password !== "string") throw new BadRequest("The password must be a string");
  // UTF-8 has one replacement for all of them: different passwords would become the same.
  if (!password.isWellFormed()) throw refuse("PASSWORD_NOT_TEXT", "The password holds half of a character");
  if (password.length > MOST_UNITS) throw tooLong();
  if (!isStreamSafe(password))
    throw refuse("PASSWORD_NOT_TEXT", "The password has more than 30 combining marks in a row");
  const text = password.normalize("NFKC");
  const normal = Buffer.from(text);
  if (normal.length > MOST_BYTES) throw tooLong();
  return { normal, raw: text === password ? null : Buffer.from(password), isLongEnough: normal.length >= LEAST_BYTES };
}

/** Reads a password that is to be hashed. Throws 422 also for one that is too short. */
export function readNewPassword(password: unknown): Uint8Array {
  const { normal, isLongEnough } = readAttempt(password);
  if (!isLongEnough) throw refuse("PASSWORD_TOO_SHORT", `The password must have at least ${LEAST_BYTES} bytes`);
  return normal;
}

function tooLong(): HttpException {
  return refuse("PASSWORD_TOO_LONG", `The password must have at most ${MOST_BYTES} bytes`);
}

function refuse(
  code: "PASSWORD_NOT_TEXT" | "PASSWORD_TOO_LONG" | "PASSWORD_TOO_SHORT",
  message: string,
): HttpException {
  return new HttpException(422, message, { code });
}
