// Not that of Node: its types lost the name in version 26.
import type { JWK } from "jose";

/** How a token may be signed. HS256 is for secrets, the others are for key pairs. */
export type JWTAlgorithm = "HS256" | "EdDSA" | "ES256" | "RS256";

/** A smaller RSA key is one that somebody can afford to break. */
export const LEAST_RSA_BITS = 2048;

/** What a key of this kind signs by; `null` for one that signs no tokens here. */
export function algorithmOf({ kty, crv }: JWK): JWTAlgorithm | null {
  if (kty === "RSA") return "RS256";
  if (kty === "EC" && crv === "P-256") return "ES256";
  return kty === "OKP" && crv === "Ed25519" ? "EdDSA" : null;
}
