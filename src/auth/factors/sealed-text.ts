import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { deriveSecret, type Secret } from "../../core/key-ring.ts";

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts text for a store with AES-256-GCM, under keys derived from the secrets: the first encrypts and all of them
 * decrypt. A text is bound to its place, so that it cannot be moved to another one.
 */
export class SealedText {
  readonly #keys: readonly Uint8Array[];

  constructor(secrets: readonly Secret[], purpose: string) {
    this.#keys = secrets.map((secret) => deriveSecret(secret, purpose));
  }

  seal(text: string, place: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#keys[0] as Uint8Array, iv).setAAD(Buffer.from(place));
    return Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64url");
  }

  /** Returns the text, or `null` if none of the keys decrypts it. */
  open(sealed: string, place: string): string | null {
    const bytes = Buffer.from(sealed, "base64url");
    if (bytes.length < IV_BYTES + TAG_BYTES) return null;
    for (const key of this.#keys) {
      try {
        const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
          .setAAD(Buffer.from(place))
          .setAuthTag(bytes.subarray(-TAG_BYTES));
        return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString();
      } catch {
        // Another key encrypted it.
      }
    }
    return null;
  }
}
