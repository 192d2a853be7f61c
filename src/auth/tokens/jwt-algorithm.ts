// Imported from jose, because the types of Node 26 no longer export this name.
import type { JWK } from "jose";

/** A signature algorithm. HS256 is for secrets, the others are for key pairs. */
export type JWTAlgorithm = "HS256" | "EdDSA" | "ES256" | "RS256";

/** Smaller RSA keys are considered breakable. */
export const MIN_RSA_BITS = 2048;

/** Returns the algorithm of a key, or `null` if the key type is not supported. */
export function algorithmOf({ kty, crv }: JWK): JWTAlgorithm | null {
  if (kty === "RSA") return "RS256";
  if (kty === "EC" && crv === "P-256") return "ES256";
  return kty === "OKP" && crv === "Ed25519" ? "EdDSA" : null;
}
