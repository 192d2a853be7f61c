import { createSecretKey } from "node:crypto";
import { ConfigurationError } from "../../core/configuration-error.ts";
import type { Rule } from "../../core/options.ts";

/** A secret of at least 32 bytes: text in UTF-8, or bytes. */
export type Secret = string | Uint8Array;

const LEAST_BYTES = 32;
/** Fewer different bytes are a placeholder, such as `xxxxxxxx`. */
const LEAST_VARIETY = 8;
/** Long enough, and known to everybody. */
const KNOWN: ReadonlySet<string> = new Set([
  "a-string-secret-at-least-256-bits-long",
  "a-valid-string-secret-that-is-at-least-512-bits-long-which-is-very-long",
  "your-256-bit-secret-your-256-bit-secret",
  "your-secret-key-at-least-32-characters-long",
  "change-me-change-me-change-me-change-me",
]);

/** One secret or a list of them, the newest first: the first signs, all of them verify. No sentence of it shows a secret. */
export function secretRing(option: string): Rule<readonly Uint8Array[]> {
  return {
    expected: "a secret, or a list of secrets",
    read(value) {
      const list: readonly unknown[] = Array.isArray(value) ? value : [value];
      if (list.length === 0) throw new ConfigurationError(option, "holds no secret");
      return list.map((entry) => secretBytes(option, entry));
    },
  };
}

function secretBytes(option: string, value: unknown): Uint8Array {
  if (typeof value !== "string" && !(value instanceof Uint8Array))
    throw new ConfigurationError(option, "must be a string or bytes, or a list of them");
  // A byte order mark is white space to `trim`.
  if (Buffer.from(value).toString("latin1", 0, 64).includes("-----BEGIN") || isPem(value))
    throw new ConfigurationError(option, "looks like a key in PEM: a public key is no secret, it goes into jwks");
  const bytes = Buffer.from(value);
  if (bytes.length < LEAST_BYTES)
    throw new ConfigurationError(option, `must be at least ${LEAST_BYTES} bytes long, received ${bytes.length}`);
  if (new Set(bytes).size < LEAST_VARIETY || KNOWN.has(bytes.toString().trim().toLowerCase()))
    throw new ConfigurationError(option, "is a secret that anybody can guess: take 32 random bytes");
  return bytes;
}

function isPem(value: Secret): boolean {
  return typeof value === "string" && value.trim().startsWith("-----BEGIN");
}

/** The key that HS256 signs and verifies with. Made once: a bare secret would be imported anew for each token. */
export function hmacKey(secret: Uint8Array): CryptoKey {
  return createSecretKey(secret).toCryptoKey({ name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
}
