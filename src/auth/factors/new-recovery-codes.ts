import { randomInt, timingSafeEqual } from "node:crypto";
import { sha256 } from "../records/sha256.ts";

const COUNT = 10;
/** Without letters and digits that look alike. 24 of these have 118 bits, so a plain hash protects them. */
const ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";
const LENGTH = 24;

/** Makes ten recovery codes, such as `k3vq7n-xemmpd-42tzab-9rwuhe`. */
export function newRecoveryCodes(): readonly string[] {
  return Array.from({ length: COUNT }, () => {
    const letters = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
    return (letters.match(/.{6}/g) as string[]).join("-");
  });
}

/** Returns the stored hash of a code. Spaces, hyphens and capitals do not matter. */
export function recoveryHash(code: string): string {
  return sha256(code.toLowerCase().replace(/[\s-]/g, ""));
}

/** Returns the place of a hash in the list, or -1. Every entry is compared, in constant time. */
export function indexOfHash(hash: string, hashes: readonly string[]): number {
  const wanted = Buffer.from(hash);
  return hashes
    .map((entry) => entry.length === hash.length && timingSafeEqual(Buffer.from(entry), wanted))
    .indexOf(true);
}
