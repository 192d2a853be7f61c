import { randomBytes, scryptSync, timingSafeEqual } from "node:crypto";

const KEY_BYTES = 32;

export function hashPassword(password: string, salt = randomBytes(16)): string {
  return `${salt.toString("hex")}:${scryptSync(password, salt, KEY_BYTES).toString("hex")}`;
}

export function isPassword(password: string, hash: string): boolean {
  const [salt = "", key = ""] = hash.split(":");
  const expected = Buffer.from(key, "hex");
  return timingSafeEqual(scryptSync(password, Buffer.from(salt, "hex"), KEY_BYTES), expected);
}
