import { createSecretKey } from "node:crypto";
import type { CryptoKey } from "jose";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { type Secret, secretsOf } from "../../core/key-ring.ts";
import type { OptionRule } from "../../core/resolve-options.ts";

/**
 * Reads one secret or a list, newest first. The first signs and all of them verify. No error message shows a secret.
 */
export function secretRing(option: string): OptionRule<readonly Uint8Array[]> {
  return {
    expected: "a secret, or a list of secrets",
    read: (value) => secretsOf(option, value).map((secret) => bytesOf(option, secret)),
  };
}

function bytesOf(option: string, secret: Secret): Uint8Array {
  const bytes = Buffer.from(secret);
  if (bytes.includes("-----BEGIN"))
    throw new ConfigurationError(option, "looks like a PEM key, not a secret: pass public keys as jwks");
  return bytes;
}

/** Imports the key for HS256 once, because jose would import a plain secret again for each token. */
export function hmacKey(secret: Uint8Array): CryptoKey {
  const key = createSecretKey(secret).toCryptoKey({ name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
  // Node and the DOM types declare the same type separately.
  return key as CryptoKey;
}
