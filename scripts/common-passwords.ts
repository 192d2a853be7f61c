// node scripts/common-passwords.ts: writes src/auth/passwords/common-password-hashes.ts anew, from the list of @zxcvbn-ts/language-common.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { canonicalName } from "../src/auth/users/canonical-name.ts";

const COUNT = 10_000;
/** Shorter ones are refused for their length. */
const MIN_BYTES = 8;

const root = resolve(import.meta.dirname, "..");
/** The package's folder: its list is a file that it does not export. */
const folder = dirname(dirname(fileURLToPath(import.meta.resolve("@zxcvbn-ts/language-common"))));

if (import.meta.main) {
  const file = join(root, "src/auth/passwords/common-password-hashes.ts");
  writeFileSync(file, source(mostCommon()));
  console.log(`${COUNT} passwords: ${dirname(file)}`);
}

/** The most common ones, as they are compared, the most common first. */
export function mostCommon(): readonly string[] {
  const listed = JSON.parse(readFileSync(join(folder, "src/passwords.json"), "utf8")) as readonly string[];
  const texts = new Set(listed.map(canonicalName));
  return [...texts].filter((text) => Buffer.byteLength(text) >= MIN_BYTES).slice(0, COUNT);
}

/** The module: of each password the first four bytes of its SHA-256, in ascending order. */
function source(passwords: readonly string[]): string {
  const prefixes = passwords.map((text) => createHash("sha256").update(text).digest().subarray(0, 4));
  const data = Buffer.concat(prefixes.toSorted((left, right) => Buffer.compare(left, right))).toString("base64");
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  const license = readFileSync(join(folder, "LICENSE.txt"), "utf8").trim().split("\n");
  return [
    "/*",
    ` * Made by scripts/common-passwords.ts from the list of @zxcvbn-ts/language-common ${version}, which comes under this license:`,
    " *",
    ...license.map((line) => ` * ${line}`.trimEnd()),
    " */",
    "",
    "/** Of each common password the first four bytes of its SHA-256, in ascending order, in base64. */",
    `export const COMMON_PASSWORD_HASHES: string =\n  "${data}";`,
    "",
  ].join("\n");
}
