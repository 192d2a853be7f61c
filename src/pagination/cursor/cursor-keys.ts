import { createCipheriv, hash, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { type OptionRule, REFUSED } from "../../core/resolve-options.ts";

/** The version and the key id are authenticated but not encrypted. */
export const HEAD_BYTES = 2;
/** The length of the tag, from which the counter blocks of the cipher are made. */
export const TAG_BYTES = 16;
const TEXT_START: number = HEAD_BYTES + TAG_BYTES;
const LEAST_BYTES = 32;

interface CursorKey {
  /** One byte in each cursor that says which key to try. It proves nothing. */
  readonly id: number;
  /** Encrypts blocks of 16 bytes, each by itself. Creating a cipher for each cursor would cost more than encrypting it. */
  readonly blocks: Pick<ReturnType<typeof createCipheriv>, "update">;
  /** The key for tags, padded for the two hashes of an HMAC. */
  readonly inner: Buffer;
  readonly outer: Buffer;
}

/**
 * The key ring for cursors: the first key encrypts, and all keys decrypt.
 *
 * AES-256 in counter mode (NIST SP 800-38A). The first counter block is the authentication tag with its last byte set to
 * zero, and the tag is an HMAC-SHA-256 of everything it protects. This is the SIV construction (RFC 5297) with HMAC in
 * place of CMAC. So equal positions have equal cursors, and a counter block repeats only with its plaintext. Two
 * different cursors share one with a probability of 2^-57 after 2^32 cursors.
 */
export class CursorKeys {
  readonly #ring: readonly CursorKey[];

  constructor(secrets: readonly string[]) {
    this.#ring = secrets.map(cursorKey);
  }

  /** Returns a random ring that only this process knows. */
  static random(): CursorKeys {
    return new CursorKeys([randomBytes(LEAST_BYTES).toString("base64")]);
  }

  /** Encrypts in place. The caller sets the version and the plaintext; this fills in the key id and the tag. */
  encrypt(bytes: Buffer): void {
    const newest = this.#ring[0] as CursorKey;
    bytes[HEAD_BYTES - 1] = newest.id;
    bytes.write(tagOf(newest, bytes), HEAD_BYTES, "hex");
    applyKeystream(newest, bytes);
  }

  /** Decrypts in place. Returns `false` if no key of the ring encrypted these bytes, which are then unusable. */
  decrypt(bytes: Buffer): boolean {
    for (const key of this.#ring) {
      if (key.id !== bytes[HEAD_BYTES - 1]) continue;
      applyKeystream(key, bytes);
      const tag = Buffer.from(tagOf(key, bytes), "hex");
      if (timingSafeEqual(tag, bytes.subarray(HEAD_BYTES, TEXT_START))) return true;
      // Another key may have the same id.
      applyKeystream(key, bytes);
    }
    return false;
  }
}

/** One secret for the ring, or several, newest first. */
export const cursorKeysRule: OptionRule<readonly string[]> = {
  expected: `a secret of at least ${LEAST_BYTES} bytes, or a list of them, the newest first`,
  isSecret: true,
  wrongEntry: (list) => list.findIndex((entry) => !isSecret(entry)),
  read(value) {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    return list.length > 0 && list.every(isSecret) ? Object.freeze([...(list as string[])]) : REFUSED;
  },
};

function isSecret(value: unknown): boolean {
  return typeof value === "string" && Buffer.byteLength(value) >= LEAST_BYTES;
}

const HASH_BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
const CIPHER_BLOCK_BYTES = 16;

function cursorKey(secret: string): CursorKey {
  const derive = (purpose: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync("sha256", secret, "", `portico cursor ${purpose}`, bytes));
  const tag = derive("tag", LEAST_BYTES);
  return {
    id: derive("id", 1)[0] as number,
    blocks: createCipheriv("aes-256-ecb", derive("counter mode", LEAST_BYTES), null).setAutoPadding(false),
    inner: padded(tag, 0x36),
    outer: padded(tag, 0x5c),
  };
}

function padded(key: Buffer, pad: number): Buffer {
  const block = Buffer.alloc(HASH_BLOCK_BYTES, pad);
  for (const [index, byte] of key.entries()) block[index] = byte ^ pad;
  return block;
}

/**
 * HMAC (RFC 2104) from two one-shot hashes, because `createHmac` leaves an object to the garbage collector each time.
 * Digests are hex, because separate buffers would cost twice as much.
 */
function tagOf({ inner, outer }: CursorKey, bytes: Buffer): string {
  const message = Buffer.allocUnsafe(HASH_BLOCK_BYTES + bytes.length - TAG_BYTES);
  message.set(inner);
  bytes.copy(message, HASH_BLOCK_BYTES, 0, HEAD_BYTES);
  bytes.copy(message, HASH_BLOCK_BYTES + HEAD_BYTES, TEXT_START);
  const whole = Buffer.allocUnsafe(HASH_BLOCK_BYTES + DIGEST_BYTES);
  whole.set(outer);
  whole.write(hash("sha256", message, "hex"), HASH_BLOCK_BYTES, "hex");
  return hash("sha256", whole, "hex").slice(0, 2 * TAG_BYTES);
}

/** Combines the text with the encrypted counter blocks, which encrypts and decrypts alike. */
function applyKeystream({ blocks }: CursorKey, bytes: Buffer): void {
  const length = bytes.length - TEXT_START;
  const counters = Buffer.allocUnsafe(Math.ceil(length / CIPHER_BLOCK_BYTES) * CIPHER_BLOCK_BYTES);
  // The last byte counts. A cursor has fewer than 256 blocks.
  for (let at = 0, block = 0; at < counters.length; at += CIPHER_BLOCK_BYTES, block++) {
    bytes.copy(counters, at, HEAD_BYTES, TEXT_START);
    counters[at + CIPHER_BLOCK_BYTES - 1] = block;
  }
  const keystream = blocks.update(counters);
  for (let at = 0; at < length; at++)
    bytes[TEXT_START + at] = (bytes[TEXT_START + at] as number) ^ (keystream[at] as number);
}
