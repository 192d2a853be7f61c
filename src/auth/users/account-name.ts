import { domainToASCII, domainToUnicode } from "node:url";
import { isStreamSafe } from "../../core/is-stream-safe.ts";
import { HttpException } from "../../kernel/exceptions/http-exception.ts";
import { canonicalName } from "./canonical-name.ts";

/** An email address or a username, in the form shown and in the form compared. */
export interface AccountName {
  readonly text: string;
  readonly key: string;
}

/**
 * Control characters, lone surrogates, unassigned code points, spaces other than a single U+0020, and invisible
 * characters. A name must not look like another name or break a line.
 */
const UNSEEN = /\p{C}|\p{Default_Ignorable_Code_Point}|\u2800|\u{13441}|\u{13442}|\u{16FE4}|\u{1D159}|(?! )\p{Z}| {2}/u;
/** Excludes text that a mailer may read as an option, a list, a comment, another address or an encoded word. */
const ADDRESS = /^(?!-|.*=\?)[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+$/u;
const MAX_LENGTH = 254;

/**
 * Scripts whose letters look like those of another one of them. A name has letters of one of them at most, so that no
 * letter of "admin" can be a Cyrillic one. All other scripts may be mixed with Latin letters, as in Japanese names.
 */
const ALIKE: readonly RegExp[] = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Coptic}/u,
  /\p{Script=Lisu}/u,
  /\p{Script=Deseret}/u,
  /\p{Script=Tifinagh}/u,
  /\p{Script=Georgian}/u,
];

/**
 * Reads an email address and trims it. Throws 422 for an invalid address, and for one that differs from its canonical
 * form in more than case: emails go to the address as typed, so it must be the mailbox that identifies the account.
 */
export function readEmail(given: unknown): AccountName {
  const text = textOf(given);
  // Only a delivered email proves that an address works. This check rejects text that cannot be an address.
  if (text.length > MAX_LENGTH || UNSEEN.test(text) || !ADDRESS.test(text))
    throw refused("email", "be a valid email address");
  const key = canonicalName(text);
  const typed = lower(text);
  const [domain, known] = [domainOf(typed), domainOf(key)];
  const encoded = domainToASCII(known);
  if (/^\.|\.\.|\.$/.test(known) || encoded === "") throw refused("email", "be a valid email address");
  const isOneForm = domainToUnicode(encoded) === known && (domain === known || domain === encoded);
  const isOneText = isComposed(text) && typed.slice(0, -domain.length) === key.slice(0, -known.length);
  if (!isOneForm || !isOneText) throw notCanonical("email");
  return { text, key };
}

/**
 * Reads a username. Throws 422 for an invalid one, such as another address: a username with an `@` must be the user's
 * own address. Also throws for letters of two alphabets that look alike: they could spell the name of another user.
 */
export function readUsername(given: unknown, email: AccountName): AccountName {
  const text = textOf(given);
  const key = canonicalName(text);
  if (key === "" || text.length > MAX_LENGTH || UNSEEN.test(text) || (key.includes("@") && key !== email.key))
    throw refused("username", `have 1 to ${MAX_LENGTH} visible characters and no @`);
  if ((!isComposed(text) || lower(text) !== key) && text !== email.text) throw notCanonical("username");
  if (key !== email.key && ALIKE.filter((script) => script.test(text)).length > 1)
    throw refused("username", ONE_SCRIPT);
  return { text, key };
}

/**
 * Composes characters, because some keyboards send a letter and its accent separately. Returns an empty text, which is
 * never valid, for input that would be slow to normalise.
 */
function textOf(given: unknown): string {
  const isText = typeof given === "string" && given.length <= 4 * MAX_LENGTH && isStreamSafe(given);
  return isText ? given.trim().normalize("NFC") : "";
}

/** Checked before lower-casing: the capital theta symbol, for one, has the same lower case as theta. */
function isComposed(text: string): boolean {
  return text.normalize("NFKC") === text;
}

function lower(text: string): string {
  return text.toLowerCase().normalize("NFC");
}

const ONE_SCRIPT = "not mix letters of alphabets that look alike, such as Latin and Cyrillic";

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}

function refused(field: "email" | "username", rule: string): HttpException {
  return new HttpException(422, `The ${field} must ${rule}`);
}

function notCanonical(field: "email" | "username"): HttpException {
  const message = `The ${field} contains a compatibility character, such as a full-width letter or a ligature. Use the plain character.`;
  return new HttpException(422, message, { code: "NAME_NOT_CANONICAL" });
}
