import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { sha256 } from "../records/sha256.ts";

/** The parts of a refresh token. */
export interface RefreshToken {
  /** The id of its family. Each sign-in begins one. */
  readonly family: Uint8Array;
  /** The number of tokens before it in the family. */
  readonly generation: number;
  readonly secret: Uint8Array;
}

const PREFIX = "prt_";
const FAMILY_BYTES = 16;
const SECRET_BYTES = 32;
const TAG_BYTES = 16;
const BODY_BYTES = FAMILY_BYTES + 4 + SECRET_BYTES;
const FORM = new RegExp(`^${PREFIX}([A-Za-z0-9_-]{${Math.ceil(((BODY_BYTES + TAG_BYTES) * 4) / 3)}})$`);

interface TokenKey {
  readonly tag: Uint8Array;
  readonly successor: Uint8Array;
}

/**
 * Writes and reads refresh tokens. Each token is authenticated by a tag, so that a forged token is distinguished from
 * an old one without a lookup: only an old token shows that it was copied.
 */
export class RefreshTokenKeys {
  readonly #ring: readonly TokenKey[];

  /** The first secret signs and all of them verify. */
  constructor(secrets: readonly Uint8Array[]) {
    this.#ring = secrets.map((secret) => ({
      tag: derive(secret, "portico refresh tag"),
      successor: derive(secret, "portico refresh successor"),
    }));
  }

  /** The first token of a new family. */
  first(): RefreshToken {
    return { family: randomBytes(FAMILY_BYTES), generation: 0, secret: randomBytes(SECRET_BYTES) };
  }

  /**
   * Derives the successors of a token, one per key, newest first. They are computed, not random, so that a client that
   * lost the response can send the parent again and get the same successor without it being stored.
   */
  successors(token: RefreshToken): readonly RefreshToken[] {
    return this.#ring.map(({ successor }) => ({
      family: token.family,
      generation: token.generation + 1,
      secret: createHmac("sha256", successor).update(bodyOf(token)).digest(),
    }));
  }

  write(token: RefreshToken): string {
    const body = bodyOf(token);
    return PREFIX + Buffer.concat([body, tagOf(this.#ring[0] as TokenKey, body)]).toString("base64url");
  }

  /** Parses a token. Returns `null` if it is malformed or forged. */
  read(text: unknown): RefreshToken | null {
    const match = typeof text === "string" ? FORM.exec(text) : null;
    if (match === null) return null;
    const bytes = Buffer.from(match[1] as string, "base64url");
    if (bytes.toString("base64url") !== match[1]) return null;
    const [body, tag] = [bytes.subarray(0, BODY_BYTES), bytes.subarray(BODY_BYTES)];
    if (!this.#ring.some((key) => timingSafeEqual(tagOf(key, body), tag))) return null;
    return {
      family: body.subarray(0, FAMILY_BYTES),
      generation: body.readUInt32BE(FAMILY_BYTES),
      secret: body.subarray(FAMILY_BYTES + 4),
    };
  }
}

/** Returns the stored hash of a token or id. */
export function digestOf(bytes: Uint8Array): string {
  return sha256(bytes);
}

function bodyOf({ family, generation, secret }: RefreshToken): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(generation);
  return Buffer.concat([family, count, secret]);
}

function tagOf(key: TokenKey, body: Uint8Array): Buffer {
  return createHmac("sha256", key.tag).update(body).digest().subarray(0, TAG_BYTES);
}

function derive(secret: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "", purpose, 32));
}
