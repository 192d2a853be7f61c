import { pbkdf2Sync, scryptSync } from "node:crypto";
import { type PasswordCheck, PasswordHasher } from "portico/auth";
import { describe, expect, it, onTestFinished } from "vitest";
import { CHEAP } from "./login-app.ts";
import { observeHashing } from "./observed-hashing.ts";
import { PASSWORD } from "./old-hashes.ts";

const verify = (stored: string): Promise<PasswordCheck> =>
  new PasswordHasher({ accepts: ["scrypt", "pbkdf2", "bcrypt"], legacyCosts: CHEAP }).verify(PASSWORD, stored);
const RIGHT: PasswordCheck = { isRight: true, needsRehash: true };
const WRONG: PasswordCheck = { isRight: false, needsRehash: false };

/** The calls of the hashing libraries while a test runs. */
function observed(): readonly string[] {
  const hashing = observeHashing();
  onTestFinished(() => hashing.stop());
  return hashing.calls;
}

const salt = Buffer.from("seasaltseasalt!!");
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64").replaceAll("=", "");

/** A scrypt hash of the password in the PHC format. */
function scryptOf(n: number, r: number, p: number, unit: "n" | "ln" = "n", bytes = 32): string {
  const key = scryptSync(PASSWORD, salt, bytes, { N: n, r, p, maxmem: 2 ** 30 });
  return `$scrypt$${unit}=${unit === "n" ? n : Math.log2(n)},r=${r},p=${p}$${base64(salt)}$${base64(key)}`;
}

describe("a scrypt hash", () => {
  it.each([
    ["the lowest cost", scryptOf(2, 1, 1)],
    ["the logarithm of its cost", scryptOf(16, 2, 3, "ln")],
    ["a key of 64 bytes", scryptOf(16, 8, 1, "n", 64)],
    ["more memory than Node allows by default", scryptOf(65_536, 8, 1)],
  ])("is verified with %s", async (_, stored) => {
    expect(await verify(stored)).toEqual(RIGHT);
  });

  it.each([
    ["N = 1", "n=1,r=8,p=1"],
    ["N = 0", "n=0,r=8,p=1"],
    ["an N that is not a power of two", "n=1023,r=8,p=1"],
    ["r = 0", "n=1024,r=0,p=1"],
    ["p = 0", "n=1024,r=8,p=0"],
    ["an exponent beyond any memory", "ln=99999999,r=8,p=1"],
  ])("is not tried with %s", async (_, cost) => {
    const calls = observed();

    expect(await verify(`$scrypt$${cost}$${base64(salt)}$${base64(Buffer.alloc(32, 1))}`)).toEqual(WRONG);
    expect(calls.filter((call) => call === "crypto.scrypt")).toHaveLength(1);
  });
});

describe("a PBKDF2 hash", () => {
  const werkzeug = (digest: string, iterations: number, bytes: number): string =>
    `pbkdf2:${digest}:${iterations}$seasalt$${pbkdf2Sync(PASSWORD, "seasalt", iterations, bytes, digest).toString("hex")}`;

  it.each([
    ["one iteration", werkzeug("sha256", 1, 32)],
    ["SHA-512", werkzeug("sha512", 10, 64)],
    ["SHA-1", werkzeug("sha1", 10, 20)],
  ])("is verified with %s", async (_, stored) => {
    expect(await verify(stored)).toEqual(RIGHT);
  });

  it.each(["pbkdf2:sha256:0$seasalt$", "pbkdf2:md5:10$seasalt$", "pbkdf2:sha256:10$$"])(
    "is not tried with %s",
    async (start) => {
      const calls = observed();

      expect(await verify(start + "ab".repeat(32))).toEqual(WRONG);
      expect(calls.filter((call) => call === "crypto.pbkdf2")).toHaveLength(1);
    },
  );
});

it.each(["$2b$16$", "$2b$99$", "$2b$03$", "$2c$04$"])("a bcrypt hash with %s is not tried", async (start) => {
  const calls = observed();

  expect(await verify(`${start}abcdefghijklmnopqrstuu6Quj2zWn0VGnT8OCvFECqUNQozUh6Iq`)).toEqual(WRONG);
  expect(calls.filter((call) => call === "bcrypt.verify")).toHaveLength(1);
});

describe("the options of a hasher", () => {
  it.each([
    { legacyCosts: { bcrypt: 4, scrypt: 2, pbkdf2: 1 } },
    { legacyCosts: { bcrypt: 15, scrypt: 262_144, pbkdf2: 5_000_000 } },
    { legacyCosts: {}, maxWaiting: 0, preset: "strong" },
  ] as const)("may be %j", (options) => {
    expect(() => new PasswordHasher(options)).not.toThrow();
  });

  it.each([
    ["legacyCosts.bcrypt", { legacyCosts: { bcrypt: 3 } }],
    ["legacyCosts.bcrypt", { legacyCosts: { bcrypt: 16 } }],
    ["legacyCosts.bcrypt", { legacyCosts: { bcrypt: 4.5 } }],
    ["legacyCosts.bcrypt", { legacyCosts: { bcrypt: "12" } }],
    ["legacyCosts.scrypt", { legacyCosts: { scrypt: 1 } }],
    ["legacyCosts.scrypt", { legacyCosts: { scrypt: 524_288 } }],
    ["legacyCosts.scrypt", { legacyCosts: { scrypt: "1024" } }],
    ["legacyCosts.pbkdf2", { legacyCosts: { pbkdf2: 0 } }],
    ["legacyCosts.pbkdf2", { legacyCosts: { pbkdf2: 5_000_001 } }],
    ["legacyCosts", { legacyCosts: "bcrypt" }],
    ["accepts", { accepts: [["bcrypt"]] }],
    ["maxWaiting", { maxWaiting: 1.5 }],
  ])("name a wrong %s: %j", (option, options) => {
    expect(() => new PasswordHasher(options as never)).toThrow(`PasswordHasher.${option} must be`);
  });

  it("accept each scheme once, however often it is listed", async () => {
    const calls = observed();
    const twice = new PasswordHasher({ accepts: ["scrypt", "scrypt"], legacyCosts: CHEAP });

    expect(await twice.verify(PASSWORD, null)).toEqual(WRONG);
    expect(calls).toEqual(["argon2.verify", "crypto.scrypt"]);
  });
});
