import { createHash, randomBytes } from "node:crypto";
import type * as Bcrypt from "@node-rs/bcrypt";
import { optionalPackage } from "../../../core/packages/optional-package.ts";
import type { PasswordScheme, StoredHash } from "./password-scheme.ts";

/** Takes a few seconds. Each step up to 31 doubles the time. */
const MAX_COST = 15;

/** The last characters of salt and hash hold fewer bits, so only some characters are valid there. */
const FORM =
  /^(bcrypt\$|bcrypt_sha256\$)?(\$2[abxy]\$(\d\d)\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26])$/;

/**
 * Verifies all versions of bcrypt and both Django formats. bcrypt uses only 72 bytes of a password, except with
 * Django's SHA-256.
 */
export function bcryptScheme(dummyCost: number): PasswordScheme {
  const bcrypt = optionalPackage<typeof Bcrypt>('PasswordHasher.accepts: "bcrypt"', "@node-rs/bcrypt");
  const stored = (text: string, prepare: (password: Uint8Array) => Uint8Array): StoredHash => ({
    isCurrent: false,
    verify: (password) => bcrypt.verify(prepare(password), text),
  });
  return {
    name: "bcrypt",
    dummy: stored(dummyOf(dummyCost), asItIs),
    read(text) {
      const [, django, hash, cost] = FORM.exec(text) ?? [];
      if (hash === undefined || Number(cost) > MAX_COST || Number(cost) < 4) return null;
      return stored(hash, django === "bcrypt_sha256$" ? hexDigest : asItIs);
    },
  };
}

function asItIs(password: Uint8Array): Uint8Array {
  return password;
}

/** Hashes the password first, as Django does to support more than 72 bytes. */
function hexDigest(password: Uint8Array): Uint8Array {
  return Buffer.from(createHash("sha256").update(password).digest("hex"));
}

const STANDARD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const OWN = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Encodes in bcrypt's Base64, which differs only in its alphabet. */
function base64(bytes: Uint8Array): string {
  const standard = Buffer.from(bytes).toString("base64").replaceAll("=", "");
  return Array.from(standard, (character) => OWN[STANDARD.indexOf(character)]).join("");
}

function dummyOf(cost: number): string {
  return `$2b$${String(cost).padStart(2, "0")}$${base64(randomBytes(16))}${base64(randomBytes(23))}`;
}
