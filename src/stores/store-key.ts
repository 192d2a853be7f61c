import { createHash } from "node:crypto";

/** Longer keys cost memory, and a PostgreSQL index rejects keys from 2,704 bytes on. */
const MAX_LENGTH = 255;
const HASHED = "sha256:";

/**
 * The key as a store keeps it. A key may contain client input, so any text is valid. A NUL, which PostgreSQL rejects, a lone
 * surrogate, which UTF-8 cannot represent, and a long text are replaced by their hash. If one key made a store fail, every
 * limit in that store would treat it as unavailable.
 */
export function storeKey(key: string): string {
  const isPlain = key.length <= MAX_LENGTH && !key.includes("\0") && key.isWellFormed() && !key.startsWith(HASHED);
  return isPlain ? key : HASHED + createHash("sha256").update(key, "utf16le").digest("base64url");
}
