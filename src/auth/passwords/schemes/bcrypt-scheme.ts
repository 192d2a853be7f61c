import { createHash, randomBytes } from "node:crypto";
import type * as Bcrypt from "@node-rs/bcrypt";
import { nativePackage } from "../native-package.ts";
import type { PasswordScheme, StoredHash } from "../password-scheme.ts";

/** Some seconds. Each step doubles them, up to 31. */
const MOST_COST = 15;

/** The last characters hold fewer bits than the others: with more, it is not what bcrypt wrote. */
const FORM =
  /^(bcrypt\$|bcrypt_sha256\$)?(\$2[abxy]\$(\d\d)\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26])$/;

/** bcrypt of any age, and both of Django's. Only 72 bytes of a password count in it, but for Django's with SHA-256. */
export function bcryptScheme(dummyCost: number): PasswordScheme {
  const bcrypt = nativePackage<typeof Bcrypt>('PasswordHasher.accepts: "bcrypt"', "@node-rs/bcrypt");
  const stored = (text: string, prepare: (password: Uint8Array) => Uint8Array): StoredHash => ({
    isCurrent: false,
    verify: (password) => bcrypt.verify(prepare(password), text),
  });
  return {
    name: "bcrypt",
    dummy: stored(dummyOf(dummyCost), asItIs),
    read(text) {
      const [, django, hash, cost] = FORM.exec(text) ?? [];
      if (hash === undefined || Number(cost) > MOST_COST || Number(cost) < 4) return null;
      return stored(hash, django === "bcrypt_sha256$" ? hexDigest : asItIs);
    },
  };
}

function asItIs(password: Uint8Array): Uint8Array {
  return password;
}

/** What Django does so that more than 72 bytes count. */
function hexDigest(password: Uint8Array): Uint8Array {
  return Buffer.from(createHash("sha256").update(password).digest("hex"));
}

const STANDARD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const OWN = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** bcrypt's own Base64 differs in its alphabet alone. */
function base64(bytes: Uint8Array): string {
  const standard = Buffer.from(bytes).toString("base64").replaceAll("=", "");
  return Array.from(standard, (character) => OWN[STANDARD.indexOf(character)]).join("");
}

function dummyOf(cost: number): string {
  return `$2b$${String(cost).padStart(2, "0")}$${base64(randomBytes(16))}${base64(randomBytes(23))}`;
}
