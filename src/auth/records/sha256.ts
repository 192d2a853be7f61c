import { createHash } from "node:crypto";

/** Returns the SHA-256 hash as base64url, 43 characters: for store keys, and for secrets that must not be readable. */
export function sha256(value: string | Uint8Array): string {
  return createHash("sha256").update(value).digest("base64url");
}
