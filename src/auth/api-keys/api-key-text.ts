import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

/** An API key as text, and what of it may be shown. */
export interface APIKeyText {
  /** The whole key: whoever has it signs in by it. */
  readonly text: string;
  /** Names it without giving it away: 12 characters. */
  readonly id: string;
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_LENGTH = 12;
/** 256 bits. */
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

const ID = new RegExp(`^[0-9A-Za-z]{${ID_LENGTH}}$`);
const FORM = new RegExp(
  `^(pk_([0-9A-Za-z]{${ID_LENGTH}})_[0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
);

/** A new key, `pk_<id>_<secret><crc>`: under this id, or under one of its own. */
export function makeKey(id: string = randomText(ID_LENGTH)): APIKeyText {
  const body = `pk_${id}_${randomText(SECRET_LENGTH)}`;
  return { id, text: body + checksum(body) };
}

/** The key, if it has the form of one and its checksum is right; `null` for anything else. Nothing is looked up. */
export function readKey(text: string): APIKeyText | null {
  const [, body, id, crc] = FORM.exec(text) ?? [];
  return body !== undefined && id !== undefined && checksum(body) === crc ? { id, text } : null;
}

export function isKeyId(text: unknown): text is string {
  return typeof text === "string" && ID.test(text);
}

/** What is stored of a key. Its secret has 256 bits: there is nothing to guess, so one round is enough. */
export function keyDigest({ text }: APIKeyText): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** It catches slips and scraps without a look-up, and lets scanners of source code tell a key from other text. */
function checksum(body: string): string {
  let rest = crc32(body);
  let text = "";
  for (let place = 0; place < CHECKSUM_LENGTH; place++) {
    text = ALPHABET.charAt(rest % ALPHABET.length) + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}

function randomText(length: number): string {
  return Array.from({ length }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join("");
}
