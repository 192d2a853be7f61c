import { createHash, hash, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { REFUSED, type Rule } from "../../core/options.ts";

export const MAC_BYTES = 16;
const LEAST_BYTES = 32;

interface SigningKey {
  /** One byte that a cursor carries: it says which key to try, and proves nothing. */
  readonly id: number;
  /** The key, padded for the two hashes of an HMAC. */
  readonly inner: Buffer;
  readonly outer: Buffer;
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

  /** Writes the signature of all that is in front of a place there. */
  sign(bytes: Buffer, end: number): void {
    bytes.write(mac(this.#newest, bytes, end), end, "hex");
  }

  /** Whether the bytes from a place on are the signature of what is in front of it. */
  verify(id: number, bytes: Buffer, end: number): boolean {
    const given = bytes.subarray(end);
    return this.#ring.some(
      (entry) => entry.id === id && timingSafeEqual(Buffer.from(mac(entry, bytes, end), "hex"), given),
    );
  }

  get #newest(): SigningKey {
    return this.#ring[0] as SigningKey;
  }
}

/** One secret for the ring, or several, the newest first. */
export const cursorKeysRule: Rule<readonly string[]> = {
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

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;

function signingKey(secret: string): SigningKey {
  const derived = Buffer.from(hkdfSync("sha256", secret, "", "portico cursor", LEAST_BYTES));
  const id = createHash("sha256").update(derived).digest()[0] as number;
  return { id, inner: padded(derived, 0x36), outer: padded(derived, 0x5c) };
}

function padded(key: Buffer, pad: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES, pad);
  for (const [index, byte] of key.entries()) block[index] = byte ^ pad;
  return block;
}

/**
 * HMAC (RFC 2104) by two one-shot hashes: `createHmac` leaves an object for the collector each time. Digests as hex: as a
 * buffer each would have memory of its own, at twice the cost.
 */
function mac({ inner, outer }: SigningKey, bytes: Buffer, end: number): string {
  const message = Buffer.allocUnsafe(BLOCK_BYTES + end);
  message.set(inner);
  bytes.copy(message, BLOCK_BYTES, 0, end);
  const whole = Buffer.allocUnsafe(BLOCK_BYTES + DIGEST_BYTES);
  whole.set(outer);
  whole.write(hash("sha256", message, "hex"), BLOCK_BYTES, "hex");
  return hash("sha256", whole, "hex").slice(0, 2 * MAC_BYTES);
}
