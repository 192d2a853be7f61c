import {
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import { REFUSED, type Rule } from "../../core/options.ts";

export const MAC_BYTES = 16;
const LEAST_BYTES = 32;

interface SigningKey {
  /** One byte that a cursor carries: it says which key to try, and proves nothing. */
  readonly id: number;
  readonly key: KeyObject;
}

/** The ring of keys that cursors are signed with: the first signs, all of them verify. */
export class CursorKeys {
  readonly #ring: readonly SigningKey[];

  constructor(secrets: readonly string[]) {
    this.#ring = secrets.map(signingKey);
  }

  /** A ring that lives as long as this process, and is known to no other. */
  static random(): CursorKeys {
    return new CursorKeys([randomBytes(LEAST_BYTES).toString("base64")]);
  }

  /** The id of the key that signs. */
  get id(): number {
    return this.#newest.id;
  }

  sign(bytes: Uint8Array): Buffer {
    return mac(this.#newest.key, bytes);
  }

  verify(id: number, bytes: Uint8Array, given: Uint8Array): boolean {
    return this.#ring.some((entry) => entry.id === id && timingSafeEqual(mac(entry.key, bytes), given));
  }

  get #newest(): SigningKey {
    return this.#ring[0] as SigningKey;
  }
}

/** Secrets for the ring, the newest first. */
export const cursorKeysRule: Rule<readonly string[]> = {
  expected: `a list of secrets of at least ${LEAST_BYTES} bytes each, the newest first`,
  read: (value) =>
    Array.isArray(value) && value.length > 0 && value.every(isSecret)
      ? Object.freeze([...(value as string[])])
      : REFUSED,
};

function isSecret(value: unknown): boolean {
  return typeof value === "string" && Buffer.byteLength(value) >= LEAST_BYTES;
}

/** Made once: a key object signs seven times faster than a bare secret. */
function signingKey(secret: string): SigningKey {
  const derived = Buffer.from(hkdfSync("sha256", secret, "", "portico cursor", LEAST_BYTES));
  const id = createHash("sha256").update(derived).digest()[0] as number;
  return { id, key: createSecretKey(derived) };
}

function mac(key: KeyObject, bytes: Uint8Array): Buffer {
  return createHmac("sha256", key).update(bytes).digest().subarray(0, MAC_BYTES);
}
