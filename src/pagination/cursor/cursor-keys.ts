import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import type { Secret } from "../../core/key-ring.ts";

/** The version and the key id are authenticated but not encrypted. */
export const HEAD_BYTES = 2;
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;
const TEXT_START: number = HEAD_BYTES + NONCE_BYTES;
const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;

interface CursorKey {
  /** One byte in each cursor that says which key to try. It proves nothing. */
  readonly id: number;
  readonly encryption: KeyObject;
  /** The key for nonces, padded for the two hashes of an HMAC. */
  readonly inner: Buffer;
  readonly outer: Buffer;
}

/**
 * The key ring for cursors: the first key encrypts, and all keys decrypt.
 *
 * AES-256-GCM with a nonce that is an HMAC of everything it protects, so equal positions have equal cursors, and a
 * nonce repeats only with its plaintext. Two different cursors share one with a probability of 2^-33 after 2^32
 * cursors, the bound that NIST SP 800-38D sets for a nonce of 96 bits.
 */
export class CursorKeys {
  readonly #ring: readonly CursorKey[];

  constructor(secrets: readonly Secret[]) {
    this.#ring = secrets.map(cursorKey);
  }

  /** Returns a random ring that only this process knows. */
  static random(): CursorKeys {
    return new CursorKeys([randomBytes(KEY_BYTES).toString("base64")]);
  }

  /**
   * Encrypts in place. The caller sets the version and the plaintext; this fills in the key id, the nonce and the tag.
   */
  encrypt(bytes: Buffer): void {
    const newest = this.#ring[0] as CursorKey;
    const end = bytes.length - TAG_BYTES;
    bytes[HEAD_BYTES - 1] = newest.id;
    bytes.write(nonceOf(newest, bytes, end), HEAD_BYTES, "hex");
    const cipher = createCipheriv(CIPHER, newest.encryption, bytes.subarray(HEAD_BYTES, TEXT_START), TAG);
    cipher.setAAD(bytes.subarray(0, HEAD_BYTES));
    bytes.set(cipher.update(bytes.subarray(TEXT_START, end)), TEXT_START);
    cipher.final();
    bytes.set(cipher.getAuthTag(), end);
  }

  /** Returns the plaintext, or `null` if no key of the ring encrypted these bytes. */
  decrypt(bytes: Buffer): Buffer | null {
    for (const { id, encryption } of this.#ring) {
      if (id !== bytes[HEAD_BYTES - 1]) continue;
      const end = bytes.length - TAG_BYTES;
      const decipher = createDecipheriv(CIPHER, encryption, bytes.subarray(HEAD_BYTES, TEXT_START), TAG);
      decipher.setAAD(bytes.subarray(0, HEAD_BYTES)).setAuthTag(bytes.subarray(end));
      const plaintext = decipher.update(bytes.subarray(TEXT_START, end));
      try {
        decipher.final();
        return plaintext;
      } catch {
        // The tag does not match, but another key may have the same id.
      }
    }
    return null;
  }
}

const TAG = { authTagLength: TAG_BYTES } as const;

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;

function cursorKey(secret: Secret): CursorKey {
  const derive = (purpose: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync("sha256", secret, "", `portico cursor ${purpose}`, bytes));
  const nonce = derive("nonce", KEY_BYTES);
  return {
    id: derive("id", 1)[0] as number,
    encryption: createSecretKey(derive("encryption", KEY_BYTES)),
    inner: padded(nonce, 0x36),
    outer: padded(nonce, 0x5c),
  };
}

function padded(key: Buffer, pad: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES, pad);
  for (const [index, byte] of key.entries()) block[index] = byte ^ pad;
  return block;
}

/**
 * HMAC (RFC 2104) from two one-shot hashes, because `createHmac` leaves an object to the garbage collector each time.
 * Digests are hex, because separate buffers would cost twice as much.
 */
function nonceOf({ inner, outer }: CursorKey, bytes: Buffer, end: number): string {
  const message = Buffer.allocUnsafe(BLOCK_BYTES + HEAD_BYTES + end - TEXT_START);
  message.set(inner);
  bytes.copy(message, BLOCK_BYTES, 0, HEAD_BYTES);
  bytes.copy(message, BLOCK_BYTES + HEAD_BYTES, TEXT_START, end);
  const whole = Buffer.allocUnsafe(BLOCK_BYTES + DIGEST_BYTES);
  whole.set(outer);
  whole.write(hash("sha256", message, "hex"), BLOCK_BYTES, "hex");
  return hash("sha256", whole, "hex").slice(0, 2 * NONCE_BYTES);
}
