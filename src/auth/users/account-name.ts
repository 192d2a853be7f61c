import { domainToASCII, domainToUnicode } from "node:url";
import { isStreamSafe } from "../../core/is-stream-safe.ts";
import { HttpException } from "../../http/context/http-exception.ts";
import { canonicalName } from "./canonical-name.ts";

/** An address or a name: as it is shown, and as it is compared. */
export interface AccountName {
  readonly text: string;
  readonly key: string;
}

/**
 * Control characters, halves of characters, characters that Unicode does not know yet or never will, blanks other than the usual
 * one or two of that, and everything that shows nothing: a name must not look like another line or another name.
 */
const UNSEEN = /\p{C}|\p{Default_Ignorable_Code_Point}|\u2800|\u{13441}|\u{13442}|\u{16FE4}|\u{1D159}|(?! )\p{Z}| {2}/u;
/** What a mailer may read as something else than a part of the address: an option of a program, a list, a comment, another address, an encoded word. */
const ADDRESS = /^(?!-|.*=\?)[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+$/u;
const LONGEST = 254;

/**
 * What is around it is trimmed, the rest stays as it was typed. Throws 422 for what cannot be an address, and for one in another
 * form than the one that it is compared in: mail goes to what was typed, and that must be the mailbox that the account is known by.
 */
export function readEmail(given: unknown): AccountName {
  const text = textOf(given);
  // What an address may be is decided by the mail that arrives; this keeps out what cannot be one.
  if (text.length > LONGEST || UNSEEN.test(text) || !ADDRESS.test(text)) throw refused("email", "an address");
  const key = canonicalName(text);
  const typed = lower(text);
  const [domain, known] = [domainOf(typed), domainOf(key)];
  const encoded = domainToASCII(known);
  if (/^\.|\.\.|\.$/.test(known) || encoded === "") throw refused("email", "an address");
  const isOneForm = domainToUnicode(encoded) === known && (domain === known || domain === encoded);
  const isOneText = isComposed(text) && typed.slice(0, -domain.length) === key.slice(0, -known.length);
  if (!isOneForm || !isOneText) throw notCanonical("email");
  return { text, key };
}

/** Throws 422 for what cannot be a name, as with an address: one with an `@` could be somebody's address, unless it is the user's own. */
export function readUsername(given: unknown, email: AccountName): AccountName {
  const text = textOf(given);
  const key = canonicalName(text);
  if (key === "" || text.length > LONGEST || UNSEEN.test(text) || (key.includes("@") && key !== email.key))
    throw refused("username", `1 to ${LONGEST} visible characters without an @`);
  if ((!isComposed(text) || lower(text) !== key) && text !== email.text) throw notCanonical("username");
  return { text, key };
}

/** Composed: some keyboards send a letter and its accent apart, and both are one character to everyone. */
/** Empty, which is neither an address nor a name, for what would be slow to normalise. */
function textOf(given: unknown): string {
  const isText = typeof given === "string" && given.length <= 4 * LONGEST && isStreamSafe(given);
  return isText ? given.trim().normalize("NFC") : "";
}

/** The capital theta symbol, for one, is another character than the theta, with the same small letter. */
function isComposed(text: string): boolean {
  return text.normalize("NFKC") === text;
}

function lower(text: string): string {
  return text.toLowerCase().normalize("NFC");
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}

function refused(field: "email" | "username", expected: string): HttpException {
  return new HttpException(422, `The ${field} must be ${expected}`);
}

function notCanonical(field: "email" | "username"): HttpException {
  const message = `The ${field} contains a compatibility character, such as a full-width letter or a ligature. Use the plain character.`;
  return new HttpException(422, message, { code: "NAME_NOT_CANONICAL" });
}
