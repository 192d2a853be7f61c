import { randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import { sha256 } from "../records/sha256.ts";

/** An API key as text, with its public id. */
export interface APIKeyText {
  /** The whole key, which is a secret. */
  readonly text: string;
  /** The public id: 12 characters. */
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

/** Creates a key, `pk_<id>_<secret><crc>`, with the given id or a new one. */
export function makeKey(id: string = randomText(ID_LENGTH)): APIKeyText {
  const body = `pk_${id}_${randomText(SECRET_LENGTH)}`;
  return { id, text: body + checksum(body) };
}

/** Parses a key. Returns `null` if its format or checksum is wrong. Nothing is looked up. */
export function readKey(text: string): APIKeyText | null {
  const [, body, id, crc] = FORM.exec(text) ?? [];
  return body !== undefined && id !== undefined && checksum(body) === crc ? { id, text } : null;
}

export function isKeyId(text: unknown): text is string {
  return typeof text === "string" && ID.test(text);
}

/**
 * Returns the stored hash of a key. Its secret has 256 bits and cannot be guessed, so one round of SHA-256 is enough.
 */
export function keyDigest({ text }: APIKeyText): string {
  return sha256(text);
}

/** Detects typos without a lookup, and lets secret scanners recognise a key in source code. */
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
