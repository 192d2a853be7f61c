import { type LegacyPasswordScheme, PasswordHasher } from "portico/auth";
import { testClient } from "portico/testing";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CHEAP, loginApp } from "./login-app.ts";
import { type ObservedHashing, observeHashing } from "./observed-hashing.ts";
import { ARGON2, BCRYPT_HASHES, PASSWORD, PBKDF2_HASHES, SCRYPT_HASHES } from "./old-hashes.ts";

const ALL: readonly LegacyPasswordScheme[] = ["bcrypt", "scrypt", "pbkdf2"];
const EACH_ONCE = ["argon2.verify", "bcrypt.verify", "crypto.pbkdf2", "crypto.scrypt"];

let hashing: ObservedHashing;
beforeEach(() => {
  hashing = observeHashing();
});
afterEach(() => hashing.stop());

it("[REQ-34] a failure verifies one hash of every scheme for every user, and waits for no timer", async () => {
  const stored = [...ARGON2, ...BCRYPT_HASHES, ...SCRYPT_HASHES, ...PBKDF2_HASHES].map(([, hash]) => hash);
  const users = new Map(stored.map((hash, index) => [`user ${index}`, hash]));
  const client = testClient(loginApp(users, { accepts: ALL }));

  for (const name of ["nobody", ...users.keys()]) {
    const answer = await client.post("/login", { body: { name, password: "not the password" } });

    expect(answer.status).toBe(401);
    expect(hashing.calls.splice(0).toSorted(), name).toEqual(EACH_ONCE);
  }
  const hasher = new PasswordHasher({ accepts: ALL, legacyCosts: CHEAP });
  const timers = ["setTimeout", "setInterval"].map((name) => vi.spyOn(globalThis, name as "setTimeout"));
  for (const hash of [null, ...stored]) await hasher.verify("not the password", hash);
  expect(timers.map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
  vi.restoreAllMocks();
});

it("a success verifies the schemes before the stored hash, then that hash, and nothing more", async () => {
  const hasher = new PasswordHasher({ accepts: ALL, legacyCosts: CHEAP });
  const families = [ARGON2, BCRYPT_HASHES, SCRYPT_HASHES, PBKDF2_HASHES];

  for (const [index, family] of families.entries()) {
    for (const [, hash] of family) {
      expect((await hasher.verify(PASSWORD, hash)).isRight).toBe(true);
      expect(hashing.calls.splice(0)).toHaveLength(index + 1);
    }
  }
});

it("a failure tries the schemes in a fixed order, whatever the stored hash", async () => {
  const hasher = new PasswordHasher({ accepts: ["bcrypt"], legacyCosts: CHEAP });

  for (const stored of [null, ARGON2[0]?.[1] as string, BCRYPT_HASHES[0]?.[1] as string, "malformed"]) {
    await hasher.verify("a wrong password", stored);
    expect(hashing.calls.splice(0)).toEqual(["argon2.verify", "bcrypt.verify"]);
  }
});

it("a text that normalising changes is tried both ways, even for unknown users", async () => {
  const hasher = new PasswordHasher({ accepts: ["bcrypt"], legacyCosts: CHEAP });
  const twice = ["argon2.verify", "argon2.verify", "bcrypt.verify", "bcrypt.verify"];

  for (const stored of [null, ARGON2[0]?.[1] as string, BCRYPT_HASHES[0]?.[1] as string, "malformed"]) {
    expect((await hasher.verify("ﬁne ² password", stored)).isRight).toBe(false);
    expect(hashing.calls.splice(0).toSorted()).toEqual(twice);
  }
});

it("the dummies cost as much as a new hash, or as legacyCosts", async () => {
  const asked: unknown[] = [];
  const { createRequire } = await import("node:module");
  const bcrypt = createRequire(import.meta.url)("@node-rs/bcrypt") as Record<string, unknown>;
  const argon2 = createRequire(import.meta.url)("@node-rs/argon2") as Record<string, unknown>;
  const before = [bcrypt["verify"], argon2["verify"]];
  bcrypt["verify"] = async (_: unknown, hash: string) => (asked.push(hash), false);
  argon2["verify"] = async (hash: string) => (asked.push(hash), false);

  try {
    await new PasswordHasher({ accepts: ["bcrypt"] }).verify("some password", null);
    await new PasswordHasher({ preset: "strong", accepts: ["bcrypt"], legacyCosts: { bcrypt: 10 } }).verify("x", null);
  } finally {
    [bcrypt["verify"], argon2["verify"]] = before;
  }

  expect(asked).toEqual([
    expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/),
    expect.stringMatching(/^\$2b\$12\$[./\w]{53}$/),
    expect.stringMatching(/^\$argon2id\$v=19\$m=65536,t=3,p=1\$[\w+/]{22}\$[\w+/]{43}$/),
    expect.stringMatching(/^\$2b\$10\$[./\w]{53}$/),
  ]);
});
