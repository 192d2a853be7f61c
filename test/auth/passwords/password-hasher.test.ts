import { inspect } from "node:util";
import * as fc from "fast-check";
import { type LegacyPasswordScheme, PasswordHasher } from "portico/auth";
import { logCatcher, type TestResponse, testClient } from "portico/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { allowedMs } from "../../allowed-ms.ts";
import { overBoth } from "../../matrix.ts";
import { CHEAP, loginApp } from "./login-app.ts";
import { type ObservedHashing, observeHashing } from "./observed-hashing.ts";
import { ARGON2, BCRYPT_72, BCRYPT_HASHES, PASSWORD, PBKDF2_HASHES, SCRYPT_HASHES } from "./old-hashes.ts";

const ALL: readonly LegacyPasswordScheme[] = ["bcrypt", "scrypt", "pbkdf2"];
const plain = new PasswordHasher();
const lenient = new PasswordHasher({ accepts: ALL, legacyCosts: CHEAP });

const problem = (answer: TestResponse): { code?: string; correlation_id?: string } => answer.json() as object;

let hashing: ObservedHashing;
beforeEach(() => {
  hashing = observeHashing();
});
afterEach(() => hashing.stop());

describe("a new hash", () => {
  const users = new Map<string, string>();

  overBoth(
    "[REQ-26] is argon2id with 19,456 KiB, two passes and one lane, and lets the password in",
    () => loginApp(users),
    async (client) => {
      const made = await client.post("/sign-up", { body: { name: "ann", password: PASSWORD } });
      const right = await client.post("/login", { body: { name: "ann", password: PASSWORD } });
      const wrong = await client.post("/login", { body: { name: "ann", password: `${PASSWORD} ` } });

      expect(made.status).toBe(200);
      expect(users.get("ann")).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
      expect([right.status, right.json(), wrong.status]).toEqual([200, { needsRehash: false }, 401]);
    },
  );

  it("[REQ-27] is argon2id with 65,536 KiB and three passes under the preset strong, which weaker ones are raised to", async () => {
    const strong = new PasswordHasher({ preset: "strong" });

    const hash = await strong.hash(PASSWORD);

    expect(hash).toMatch(/^\$argon2id\$v=19\$m=65536,t=3,p=1\$/);
    expect(await strong.verify(PASSWORD, hash)).toEqual({ isRight: true, needsRehash: false });
    expect(await strong.verify(PASSWORD, await plain.hash(PASSWORD))).toEqual({ isRight: true, needsRehash: true });
    expect(await plain.verify(PASSWORD, hash)).toEqual({ isRight: true, needsRehash: false });
  });

  it("has a new salt each time", async () => {
    expect(await plain.hash(PASSWORD)).not.toBe(await plain.hash(PASSWORD));
  });

  it("is argon2id whatever older schemes are accepted", async () => {
    expect(await lenient.hash(PASSWORD)).toMatch(/^\$argon2id\$/);
  });
});

describe("a hash from before", () => {
  it.each(ARGON2)("of argon2, %s, is verified and replaced when it is weaker", async (_, stored, needsRehash) => {
    expect(await plain.verify(PASSWORD, stored)).toEqual({ isRight: true, needsRehash });
    expect(await plain.verify("korrekt Pferd 43", stored)).toEqual({ isRight: false, needsRehash: false });
  });

  it.each([
    ...BCRYPT_HASHES.map(([name, hash]) => ["bcrypt", name, hash] as const),
    ...SCRYPT_HASHES.map(([name, hash]) => ["scrypt", name, hash] as const),
    ...PBKDF2_HASHES.map(([name, hash]) => ["pbkdf2", name, hash] as const),
  ])("[REQ-18] of %s, %s, is verified if accepted, and needs a rehash", async (scheme, _, stored) => {
    const users = new Map([["ann", stored]]);
    const client = testClient(loginApp(users, { accepts: [scheme] }));
    const without = testClient(loginApp(users, { accepts: ALL.filter((other) => other !== scheme) }));

    const right = await client.post("/login", { body: { name: "ann", password: PASSWORD } });
    const wrong = await client.post("/login", { body: { name: "ann", password: "korrekt Pferd 43" } });
    const unknown = await without.post("/login", { body: { name: "ann", password: PASSWORD } });

    expect([right.status, right.json()]).toEqual([200, { needsRehash: true }]);
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
  });

  it.each([
    ["one pass", { memoryCost: 19_456, timeCost: 1 }],
    ["a KiB less", { memoryCost: 19_455, timeCost: 2 }],
    ["a short tag", { memoryCost: 19_456, timeCost: 2, outputLen: 16 }],
    ["a short salt", { memoryCost: 19_456, timeCost: 2, salt: Buffer.from("saltsalt") }],
  ])("of argon2id that is weaker in one parameter, %s, needs a rehash", async (_, options) => {
    const { hash } = await import("@node-rs/argon2");

    expect(await plain.verify(PASSWORD, await hash(PASSWORD, options))).toEqual({ isRight: true, needsRehash: true });
  });

  it("of bcrypt uses 72 bytes of the password, and the new hash uses all of them", async () => {
    const [stored72, longer] = ["72".repeat(36), `${"72".repeat(36)} and more`];

    expect(await lenient.verify(longer, BCRYPT_72)).toEqual({ isRight: true, needsRehash: true });
    expect((await lenient.verify(stored72, await lenient.hash(longer))).isRight).toBe(false);
  });

  it.each([
    ["md5", "5f4dcc3b5aa765d61d8327deb882cf99"],
    ["sha1", "5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8"],
    ["plain text", PASSWORD],
    ["unsalted crypt", "rl.3StKT.4T8M"],
  ])("that is %s is rejected", async (_, stored) => {
    expect((await lenient.verify(PASSWORD, stored)).isRight).toBe(false);
  });

  it("of a password that is now too short is verified, and needs no rehash", async () => {
    const short = "$2b$04$abcdefghijklmnopqrstuu";
    const { hashSync } = await import("@node-rs/bcrypt");
    const stored = hashSync("kurz", { salt: short });

    expect(await lenient.verify("kurz", stored)).toEqual({ isRight: true, needsRehash: false });
    await expect(lenient.hash("kurz")).rejects.toMatchObject({ status: 422 });
  });

  it("of a text that was not normalised is verified as typed, and needs a rehash", async () => {
    const { hashSync } = await import("@node-rs/bcrypt");
    const stored = hashSync("ﬁnde ² Schlüssel", { cost: 4 });

    expect(await lenient.verify("ﬁnde ² Schlüssel", stored)).toEqual({ isRight: true, needsRehash: true });
    expect((await lenient.verify("finde 2 Schlüssel", stored)).isRight).toBe(false);
    const { hash } = await import("@node-rs/argon2");
    const current = await hash("ﬁnde ² Schlüssel", { memoryCost: 19_456, timeCost: 2 });
    expect(await plain.verify("ﬁnde ² Schlüssel", current)).toEqual({ isRight: true, needsRehash: true });
  });
});

describe("the text of a password", () => {
  const users = new Map<string, string>();

  overBoth(
    "[auth:AU-106] is the same however its letters are composed",
    () => loginApp(users),
    async (client) => {
      const [composed, decomposed] = ["Schlüsselbrücke".normalize("NFC"), "Schlüsselbrücke".normalize("NFD")];
      await client.post("/sign-up", { body: { name: "nfc", password: composed } });
      await client.post("/sign-up", { body: { name: "nfd", password: decomposed } });

      const answers = await Promise.all(
        ["nfc", "nfd"].flatMap((name) =>
          [composed, decomposed].map((password) => client.post("/login", { body: { name, password } })),
        ),
      );

      expect(composed).not.toBe(decomposed);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(answers.map((answer) => answer.json())).toEqual([1, 2, 3, 4].map(() => ({ needsRehash: false })));
    },
  );

  overBoth(
    "[auth:AU-107] goes on after a zero character, and spaces count",
    () => loginApp(users),
    async (client) => {
      const [short, long, spaced] = ["abcdefgh", "abcdefgh\0ijkl", " abcdefgh "];
      for (const password of [short, long, spaced])
        await client.post("/sign-up", { body: { name: password, password } });

      for (const name of [short, long, spaced])
        for (const password of [short, long, spaced])
          expect((await client.post("/login", { body: { name, password } })).status).toBe(
            name === password ? 200 : 401,
          );
    },
  );

  it("continues after a zero character in every older scheme", async () => {
    for (const [, stored] of [...BCRYPT_HASHES, ...SCRYPT_HASHES, ...PBKDF2_HASHES])
      for (const password of [`${PASSWORD}\0more`, `\0${PASSWORD}`, "\0"])
        expect((await lenient.verify(password, stored)).isRight).toBe(false);
  });

  overBoth(
    "[REQ-35] has 8 to 1,024 bytes: another is answered 422, and nothing is hashed",
    () => loginApp(users),
    async (client) => {
      const signUp = (password: string) => client.post("/sign-up", { body: { name: "bob", password } });
      const tooShort = ["", "1234567", "ééé", "x".repeat(7)];
      const tooLong = ["x".repeat(1_025), "é".repeat(513), "ﷺ".repeat(32), "x".repeat(5_000)];

      const refusedShort = await Promise.all(tooShort.map(signUp));
      const refusedLong = await Promise.all(tooLong.map(signUp));
      const login = await client.post("/login", { body: { name: "bob", password: "x".repeat(1_025) } });

      const codes = (answers: typeof refusedShort) => answers.map((answer) => [answer.status, problem(answer).code]);
      expect(codes(refusedShort)).toEqual(tooShort.map(() => [422, "password_too_short"]));
      expect(codes([...refusedLong, login])).toEqual([...tooLong, 0].map(() => [422, "password_too_long"]));
      expect([hashing.calls, users.has("bob")]).toEqual([[], false]);
      for (const password of ["12345678", "éééé", "x".repeat(1_024), "é".repeat(512)]) {
        expect((await signUp(password)).status).toBe(200);
        expect((await client.post("/login", { body: { name: "bob", password } })).status).toBe(200);
      }
      users.delete("bob");
    },
  );

  it("is rejected with more than 30 combining marks in a row, and accepted with 30", async () => {
    const marked = (count: number): string => `correct horse${"\u0315".repeat(count)}`;

    await expect(plain.hash(marked(31))).rejects.toMatchObject({ status: 422, code: "PASSWORD_NOT_TEXT" });
    await expect(plain.hash(marked(30))).resolves.toMatch(/^\$argon2id\$/);
  });

  it("is rejected with a lone surrogate, which UTF-8 cannot encode", async () => {
    for (const password of ["\ud800abcdefgh", "abcdefgh\udfff", "abcd\udc00\ud800efgh"]) {
      await expect(plain.hash(password)).rejects.toMatchObject({ status: 422, code: "PASSWORD_NOT_TEXT" });
      await expect(plain.verify(password, null)).rejects.toMatchObject({ status: 422, code: "PASSWORD_NOT_TEXT" });
    }
    expect(hashing.calls).toEqual([]);
  });

  it.each([1, null, undefined, ["abcdefgh"], { $ne: null }, true])("is a string: %s is answered 400", async (value) => {
    await expect(plain.hash(value as never)).rejects.toMatchObject({ status: 400 });
    await expect(plain.verify(value as never, null)).rejects.toMatchObject({ status: 400 });
    expect(hashing.calls).toEqual([]);
  });
});

const SALT = "c2FsdHNhbHRzYWx0c2FsdA";
const TAG = "A".repeat(43);

describe("an invalid stored hash", () => {
  const users = new Map<string, string>();
  const broken: readonly string[] = [
    "",
    "$",
    "$argon2id$",
    `$argon2id$v=19$m=4294967295,t=2,p=1$${SALT}$${TAG}`,
    `$argon2id$v=19$m=4194304,t=1,p=1$${SALT}$${TAG}`,
    `$argon2id$v=19$m=19456,t=4294967295,p=1$${SALT}$${TAG}`,
    `$argon2id$v=19$m=262144,t=16,p=1$${SALT}$${TAG}`,
    `$argon2id$v=19$m=1,t=0,p=0$${SALT}$${TAG}`,
    `$argon2id$v=19$m=19456,t=2,p=1$${SALT}$!!!`,
    `$argon2id$v=19$m=19456,t=2,p=1$${SALT}`,
    `$argon2id$v=20$m=19456,t=2,p=1$${SALT}$${TAG}`,
    `$argon2x$v=19$m=19456,t=2,p=1$${SALT}$${TAG}`,
    `$2b$31$abcdefghijklmnopqrstuu6Quj2zWn0VGnT8OCvFECqUNQozUh6Iq`,
    `$2b$99$abcdefghijklmnopqrstuu6Quj2zWn0VGnT8OCvFECqUNQozUh6Iq`,
    `$2b$04$short`,
    `$scrypt$ln=40,r=8,p=1$${SALT}$${TAG}`,
    `$scrypt$ln=10,r=9999,p=9999$${SALT}$${TAG}`,
    `$scrypt$n=1000,r=8,p=1$${SALT}$${TAG}`,
    `$scrypt$ln=0,r=0,p=0$${SALT}$${TAG}`,
    `scrypt$99999999$salt$8$1$${TAG}`,
    `pbkdf2_sha256$999999999$salt$${TAG}=`,
    `pbkdf2_sha256$0$salt$${TAG}=`,
    "x".repeat(100_000),
    "\0",
    "\ud800",
    "null",
    "{}",
  ];

  overBoth(
    "[auth:AU-112] is a wrong password, said as such in the log, and costs no more than any other",
    () => loginApp(users, { accepts: ALL }),
    async (client) => {
      const unknown = await client.post("/login", { body: { name: "nobody", password: PASSWORD } });
      const work = hashing.calls.splice(0);

      for (const stored of broken) {
        users.set("ann", stored);
        const answer = await client.post("/login", { body: { name: "ann", password: PASSWORD } });
        const { correlation_id: first, ...expected } = problem(unknown);
        const { correlation_id: second, ...body } = problem(answer);

        expect([answer.status, body], stored.slice(0, 60)).toEqual([401, expected]);
        expect(typeof first).toBe(typeof second);
        expect(new Set(hashing.calls.splice(0)), stored.slice(0, 60)).toEqual(new Set(work));
      }
    },
  );

  it("is logged without the hash and the password", async () => {
    const logs = logCatcher();
    const stored = `$argon2id$v=19$m=4194304,t=1,p=1$${SALT}$${TAG}`;
    const client = testClient(loginApp(new Map([["ann", stored]]), { logger: logs }));

    await client.post("/login", { body: { name: "ann", password: PASSWORD } });

    const lines = logs.text;
    expect(logs.lines.some(({ msg }) => msg.startsWith("a stored password hash is malformed"))).toBe(true);
    for (const secret of [PASSWORD, SALT, TAG]) expect(lines).not.toContain(secret);
  });

  it.each([
    ["512 MiB", `$argon2id$v=19$m=524288,t=1,p=1$${SALT}$${TAG}`],
    ["17 passes", `$argon2id$v=19$m=8,t=17,p=1$${SALT}$${TAG}`],
    ["17 lanes", `$argon2id$v=19$m=1024,t=1,p=17$${SALT}$${TAG}`],
    ["256 MiB eight times over", `$argon2id$v=19$m=262144,t=8,p=1$${SALT}$${TAG}`],
    ["bcrypt at 16", "$2b$16$abcdefghijklmnopqrstuu6Quj2zWn0VGnT8OCvFECqUNQozUh6Iq"],
  ])("is not tried if it requires %s", async (_, stored) => {
    expect((await lenient.verify(PASSWORD, stored)).isRight).toBe(false);
    expect(hashing.texts).not.toContain(stored);
    expect(hashing.calls.length).toBe(4);
  });

  it.each([
    ["scrypt in 512 MiB", `$scrypt$ln=19,r=8,p=1$${SALT}$${TAG}`],
    ["scrypt eight times over", `$scrypt$ln=17,r=8,p=8$${SALT}$${TAG}`],
    ["pbkdf2 with five million and one", `pbkdf2_sha256$5000001$salt$${TAG}=`],
  ])("takes as long as any other if it requires %s", async (_, stored) => {
    const start = process.cpuUsage();

    expect((await lenient.verify(PASSWORD, stored)).isRight).toBe(false);
    // CPU time is independent of other processes. The requested hash would take seconds.
    expect(process.cpuUsage(start).user / 1000).toBeLessThan(allowedMs(900));
    expect(hashing.calls).toContain("argon2.verify");
  });

  it("never throws and never matches", async () => {
    const piece = fc.constantFrom(
      ..."$ , = : .".split(" "),
      "argon2id",
      "argon2",
      "v=19",
      "m=8,t=1,p=1",
      "m=99999999999",
      SALT,
      TAG,
      "$2b$04$",
      "bcrypt_sha256",
      "scrypt",
      "ln=4,r=1,p=1",
      "16",
      "pbkdf2_sha256",
      "pbkdf2:sha256:10",
    );
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 80 }),
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("")),
      // One character of a good one changed.
      fc
        .tuple(
          fc.constantFrom(
            ...[...BCRYPT_HASHES, ...SCRYPT_HASHES.slice(0, 4), ...PBKDF2_HASHES].map(([, hash]) => hash),
          ),
          fc.nat(),
          fc.constantFrom(..."$ A . 9 / : , =".split(" ")),
        )
        .filter(([hash, at, to]) => hash[at % hash.length] !== to)
        .map(([hash, at, to]) => hash.slice(0, at % hash.length) + to + hash.slice((at % hash.length) + 1)),
    );
    // Not PASSWORD: a changed cost or prefix may still be a hash of it.
    await fc.assert(
      fc.asyncProperty(text, async (stored) => {
        expect(await lenient.verify("another password", stored)).toEqual({ isRight: false, needsRehash: false });
      }),
      { numRuns: 60 },
    );
  });
});

it("shows no internal state", async () => {
  const hash = await plain.hash(PASSWORD);

  expect(inspect(plain, { showHidden: true, depth: 9 })).not.toMatch(/argon2|\$|salt/);
  expect(JSON.stringify(plain)).toBe("{}");
  expect(hash).not.toContain(PASSWORD);
});

describe("a wrong option", () => {
  it.each([
    [{ preset: "weak" }, "PasswordHasher.preset"],
    [{ accepts: "bcrypt" }, "PasswordHasher.accepts"],
    [{ accepts: ["md5"] }, "PasswordHasher.accepts"],
    [{ accepts: ["toString"] }, "PasswordHasher.accepts"],
    [{ maxWaiting: -1 }, "PasswordHasher.maxWaiting"],
    [{ legacyCosts: 12 }, "PasswordHasher.legacyCosts"],
    [{ legacyCosts: { bcrypt: 31 } }, "PasswordHasher.legacyCosts.bcrypt"],
    [{ legacyCosts: { scrypt: 1000 } }, "PasswordHasher.legacyCosts.scrypt"],
    [{ legacyCosts: { md5: 1 } }, "PasswordHasher.legacyCosts.md5"],
    [{ memory: 1 }, "PasswordHasher.memory"],
  ])("%j is rejected and named", (options, name) => {
    expect(() => new PasswordHasher(options as never)).toThrow(
      expect.objectContaining({ name: "ConfigurationError", option: name }),
    );
  });
});
