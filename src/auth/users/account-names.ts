import { HttpException } from "../../http/exceptions.ts";
import { canonicalName } from "./canonical-name.ts";

/** An address or a name: as it is shown, and as it is compared. */
export interface AccountName {
  readonly text: string;
  readonly key: string;
}

/** Control characters, halves of characters, and what turns the direction of text: a name must not look like another line or another name. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
/** What a mailer may read as something else than a part of the address: a list, a comment, another address, an encoded word. */
const ADDRESS = /^(?!.*=\?)[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+$/u;

/** What is around it is trimmed, the rest stays as it was typed. Throws 422 for what cannot be an address. */
export function readEmail(given: unknown): AccountName {
  const text = typeof given === "string" ? given.trim() : "";
  // What an address may be is decided by the mail that arrives; this keeps out what cannot be one.
  if (text.length > 254 || UNSEEN.test(text) || !ADDRESS.test(text)) throw refused("email", "an address");
  return { text, key: canonicalName(text) };
}

/** Throws 422 for what cannot be a name: one with an `@` could be somebody's address, unless it is the user's own. */
export function readUsername(given: unknown, email: AccountName): AccountName {
  const text = typeof given === "string" ? given.trim() : "";
  const key = canonicalName(text);
  if (key === "" || text.length > 254 || UNSEEN.test(text) || (key.includes("@") && key !== email.key))
    throw refused("username", "1 to 254 characters without an @");
  return { text, key };
}

function refused(field: "email" | "username", expected: string): HttpException {
  return new HttpException(422, `The ${field} must be ${expected}`);
}
