import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { PasswordHasher } from "portico/auth";
import { sqlStores, userModel } from "portico/sql";
import { afterAll, beforeAll, expect, it } from "vitest";
import { migratedPlace, type Place } from "../../sql/accounts/databases.ts";
import { CHEAP } from "../passwords/login-app.ts";
import { ARGON2, BCRYPT_HASHES, PASSWORD, PBKDF2_HASHES, SCRYPT_HASHES } from "../passwords/old-hashes.ts";
import { accountHarness } from "./account-harness.ts";

let place: Place;
beforeAll(async () => {
  place = await migratedPlace("SQLite");
});
afterAll(() => place?.remove());

/** Each from another: the attempts of all are counted in one database. */
let addresses = 0;
const address = (): string => `198.51.100.${++addresses}`;

const outdated = ARGON2.filter(([, , needsRehash]) => needsRehash).map(
  ([name, hash]) => [`argon2 ${name}`, hash] as const,
);

it.each([...outdated, ...BCRYPT_HASHES, ...SCRYPT_HASHES, ...PBKDF2_HASHES])(
  "[REQ-18] [REQ-19] signs in a user who was imported with a hash of %s, and stores argon2id from then on",
  async (_name, passwordHash) => {
    const database = place.open();
    const passwords = new PasswordHasher({ accepts: ["bcrypt", "scrypt", "pbkdf2"], legacyCosts: CHEAP });
    const User = userModel(database, { passwords });
    const { post } = accountHarness({ users: User, stores: sqlStores(database) });
    const name =
      `u${passwordHash.length}${passwordHash.slice(0, 12)}`.replace(/\W/g, "").toLowerCase() + randomUUID().slice(0, 8);
    await User.objects.importUser({ email: `${name}@old.example`, username: name, passwordHash, isVerified: true });
    const stored = async (): Promise<unknown> =>
      (await sql<{ password_hash: string }>`select password_hash from users where username = ${name}`.execute(database))
        .rows[0]?.password_hash;
    const login = async (password: string): Promise<number> =>
      (await post("/login", { identifier: `${name.toUpperCase()}@old.example`, password }, address())).status;

    expect([await login("not the password"), await stored()]).toEqual([401, passwordHash]);
    expect(await login(PASSWORD)).toBe(200);

    expect(await stored()).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect([await login(PASSWORD), await login("not the password")]).toEqual([200, 401]);
  },
);

it("rejects a sign-in of a user imported without a password until the password is reset", async () => {
  const database = place.open();
  const { post, mails } = accountHarness({ users: userModel(database), stores: sqlStores(database) });
  const bob = { email: "bob@old.example", username: "bob" };
  await userModel(database).objects.importUser({ ...bob, passwordHash: null });

  expect((await post("/login", { identifier: "bob", password: "null" }, address())).status).toBe(401);
  await post("/password/reset", { email: bob.email });
  await expect.poll(() => mails.length).toBe(1);
  const token = new URL(mails[0]?.url ?? "").searchParams.get("token");
  expect((await post("/password/reset/confirm", { token, password: "a new password" })).status).toBe(204);
  expect((await post("/login", { identifier: "bob", password: "a new password" })).status).toBe(200);
});
