import { createSecretKey } from "node:crypto";
import type { CryptoKey } from "jose";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { type Secret, secretsOf } from "../../core/key-ring.ts";
import type { Rule } from "../../core/resolve-options.ts";

/** One secret or a list of them, the newest first: the first signs, all of them verify. No sentence of it shows a secret. */
export function secretRing(option: string): Rule<readonly Uint8Array[]> {
  return {
    expected: "a secret, or a list of secrets",
    read: (value) => secretsOf(option, value).map((secret) => bytesOf(option, secret)),
  };
}

function bytesOf(option: string, secret: Secret): Uint8Array {
  const bytes = Buffer.from(secret);
  if (bytes.includes("-----BEGIN"))
    throw new ConfigurationError(option, "looks like a key in PEM: a public key is no secret, it goes into jwks");
  return bytes;
}

/** The key that HS256 signs and verifies with. Made once: a bare secret would be imported anew for each token. */
export function hmacKey(secret: Uint8Array): CryptoKey {
  const key = createSecretKey(secret).toCryptoKey({ name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
  // The same thing by another name, where a library brings the types of browsers along.
  return key as CryptoKey;
}
