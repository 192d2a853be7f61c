import { createHash } from "node:crypto";
import { canonicalName } from "../users/canonical-name.ts";

let known: Promise<ReadonlySet<number>> | null = null;

/**
 * Whether the password is among the 10,000 that are used most, without regard to case. They are kept as hashes of 32 bits: one in
 * 400,000 others is taken for one of them.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  known ??= load();
  const hash = createHash("sha256").update(canonicalName(password)).digest();
  return (await known).has(hash.readUInt32BE());
}

/** When it is first asked for: most processes that hash passwords never see a new one. */
async function load(): Promise<ReadonlySet<number>> {
  const { COMMON_PASSWORD_HASHES } = await import("./common-password-hashes.ts");
  const bytes = Buffer.from(COMMON_PASSWORD_HASHES, "base64");
  return new Set(Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32BE(index * 4)));
}
