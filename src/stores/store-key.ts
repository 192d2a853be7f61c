import { createHash } from "node:crypto";

/** Longer keys cost memory, and an index of PostgreSQL refuses them from 2,704 bytes on. */
const LONGEST = 255;
const HASHED = "sha256:";

/**
 * The key as a store keeps it. A key may be made of what a client sent, so any text is one: a NUL, which PostgreSQL refuses, half of
 * a character, which UTF-8 cannot carry, and a text of any length are replaced by their hash. A store that failed for one key would
 * be taken for broken by everyone who counts in it.
 */
export function storeKey(key: string): string {
  const isPlain = key.length <= LONGEST && !key.includes("\0") && key.isWellFormed() && !key.startsWith(HASHED);
  return isPlain ? key : HASHED + createHash("sha256").update(key, "utf16le").digest("base64url");
}
