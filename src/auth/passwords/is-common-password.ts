import { createHash } from "node:crypto";
import { canonicalName } from "../users/canonical-name.ts";

let known: Promise<ReadonlySet<number>> | null = null;

/**
 * Returns whether the password is among the 10,000 most common ones, ignoring case. They are stored as 32-bit hashes,
 * so one in 400,000 other passwords is rejected by mistake.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  known ??= load();
  const hash = createHash("sha256").update(canonicalName(password)).digest();
  return (await known).has(hash.readUInt32BE());
}

/** Loads the list on first use, because most processes never check a new password. */
async function load(): Promise<ReadonlySet<number>> {
  const { COMMON_PASSWORD_HASHES } = await import("./common-password-hashes.ts");
  const bytes = Buffer.from(COMMON_PASSWORD_HASHES, "base64");
  return new Set(Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32BE(index * 4)));
}
