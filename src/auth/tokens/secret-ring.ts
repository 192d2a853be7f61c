import { createSecretKey } from "node:crypto";
import type { CryptoKey } from "jose";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { type Secret, secretsOf } from "../../core/key-ring.ts";
import type { Rule } from "../../core/options.ts";

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
    read: (value) => secretsOf(option, value).map((secret) => strongBytes(option, secret)),
  };
}

function strongBytes(option: string, secret: Secret): Uint8Array {
  const bytes = Buffer.from(secret);
  if (bytes.includes("-----BEGIN"))
    throw new ConfigurationError(option, "looks like a key in PEM: a public key is no secret, it goes into jwks");
  if (new Set(bytes).size < LEAST_VARIETY || KNOWN.has(bytes.toString().trim().toLowerCase()))
    throw new ConfigurationError(option, "is a secret that anybody can guess: take 32 random bytes");
  return bytes;
}

/** The key that HS256 signs and verifies with. Made once: a bare secret would be imported anew for each token. */
export function hmacKey(secret: Uint8Array): CryptoKey {
  return createSecretKey(secret).toCryptoKey({ name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
}
