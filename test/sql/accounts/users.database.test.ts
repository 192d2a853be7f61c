import { createHash, randomUUID } from "node:crypto";
import { inspect } from "node:util";
import { hash as argon2 } from "@node-rs/argon2";
import { sql } from "kysely";
import { memoryStores, revoked } from "portico";
import { PasswordHasher, UserBaseModel, UserExists } from "portico/auth";
import { type Database, type PorticoTables, sqlStores, type UserTable, userModel } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MemoryPubSub } from "../../../src/stores/memory-pub-sub.ts";
import { engineNames, migratedPlace, type Place } from "./databases.ts";

const PASSWORD = "correct horse battery";

interface Tables extends PorticoTables {
  users: UserTable & { plan: "free" | "pro"; notes: string | null };
}

describe.each(engineNames)("users on %s", (engine) => {
  let place: Place;
  let database: Database<PorticoTables>;
  let User: ReturnType<typeof userModel<PorticoTables>>;
  beforeAll(async () => {
    place = await migratedPlace(engine);
    database = place.open({ poolSize: 6 });
    User = userModel(database);
  });
  afterAll(() => place?.remove());

  const userNamed = (name: string = randomUUID()) => ({
    email: `${name}@x.example`,
    username: name,
    password: PASSWORD,
  });
  const hashOf = async (id: string): Promise<string | null> =>
    (await database.selectFrom("users").select("password_hash").where("id", "=", id).executeTakeFirstOrThrow())
      .password_hash;
  const setHash = (id: string, password_hash: string | null) =>
    database.updateTable("users").set({ password_hash }).where("id", "=", id).execute();

  it("[USR-02] [USR-03] [USR-04] is built on UserBaseModel and has identity and email", async () => {
    const before = Date.now();
    const ann = await User.objects.createUser({ email: "Ann.B@X.example", username: "Ann", password: PASSWORD });

    expect(User.prototype).toBeInstanceOf(UserBaseModel);
    expect(ann.identity).toBe(ann.id);
    expect(typeof ann.identity).toBe("string");
    expect(ann.email).toBe("Ann.B@X.example");
    expect(ann.displayName).toBe("Ann");
    expect(ann).toMatchObject({ isAuthenticated: true, credentialVersion: 1, isVerified: false, isDisabled: false });
    // The database may round to milliseconds.
    expect(ann.createdAt.getTime()).toBeGreaterThanOrEqual(before - 1);
    expect(ann.createdAt.getTime()).toBeLessThanOrEqual(Date.now() + 1);
  });

  it("gives every new user the default roles, together with the user or not at all", async () => {
    const Reader = userModel(database, { roles: ["reader", "buyer"] });
    const [early, names] = [userNamed(), userNamed()];
    const undefinedRole = await Reader.objects.createUser(early).catch((error: unknown) => error);
    for (const [role, permission] of [
      ["reader", "read:books"],
      ["buyer", "place:orders"],
    ] as const)
      await User.objects.defineRole(role, [permission]);

    const made = await Reader.objects.createUser(names);
    const again = await Reader.objects
      .createUser({ ...names, username: randomUUID() })
      .catch((error: unknown) => error);
    const imported = await Reader.objects.importUser({ ...userNamed(), passwordHash: null });
    const trx = await database.begin();
    const within = await Reader.objects.within(trx).createUser(userNamed());
    await trx.end("failure");

    expect(undefinedRole).toMatchObject({
      code: "CONFIGURATION_INVALID",
      message: expect.stringContaining("defineRole"),
    });
    expect(await User.objects.get({ email: early.email })).toBeNull();
    expect([made.roles, made.permissions]).toEqual([
      ["buyer", "reader"],
      ["place:orders", "read:books"],
    ]);
    expect(again).toBeInstanceOf(UserExists);
    expect([imported.roles, within.roles]).toEqual([made.roles, made.roles]);
    expect(await User.loadUser(within.id)).toBeNull();
    expect((await User.objects.createUser(userNamed())).roles).toEqual([]);
    expect(() => userModel(database, { roles: [""] })).toThrow("userModel.roles must be a list of role names");
  });

  it("[USR-05] stores a user that another connection loads", async () => {
    const made = await User.objects.createUser(userNamed());

    const other = await userModel(place.open({ poolSize: 2 })).loadUser(made.identity);

    expect(other).toEqual(made);
    expect(await User.loadUser(randomUUID())).toBe(null);
    expect(await User.loadUser("no\0body")).toBe(null);
  });

  it("[USR-10] belongs to its database and class, without shared state", async () => {
    const second = await migratedPlace(engine);
    class Member extends userModel(second.open({ poolSize: 2 })) {
      get shout(): string {
        return this.username.toUpperCase();
      }
    }
    const ann = await User.objects.createUser(userNamed("here"));
    const bob = await Member.objects.createUser(userNamed("there"));

    const loaded = await Member.loadUser(bob.identity);

    expect(loaded).toBeInstanceOf(Member);
    expect(loaded?.shout).toBe("THERE");
    expect(await Member.objects.get({ username: "there" })).toBeInstanceOf(Member);
    expect(await Member.loadUser(ann.identity)).toBe(null);
    expect(await User.loadUser(bob.identity)).toBe(null);
    expect(await User.objects.get({ username: "there" })).toBe(null);
    await second.remove();
  });

  it("has the application's columns as properties and arguments", async () => {
    const own = await migratedPlace(engine);
    const database = own.open<Tables>({ poolSize: 2 });
    await sql`alter table users add column plan text not null default 'free'`.execute(database);
    await sql`alter table users add column notes text`.execute(database);
    const Member = userModel(database);

    const ann = await Member.objects.createUser({ ...userNamed("ann"), plan: "pro", notes: null });
    // Portico's columns must not be set by an unchecked request body.
    const body = {
      id: "1",
      credential_version: 9,
      disabled_at: "x",
      password_hash: "x",
      email_verified_at: "2020-01-01",
    };
    const eve = await Member.objects.createUser({ ...userNamed("eve"), plan: "free", ...body });

    expect(ann.plan).toBe("pro");
    expect((await Member.loadUser(ann.identity))?.plan).toBe("pro");
    expect(eve).toMatchObject({ plan: "free", credentialVersion: 1, isVerified: false, isDisabled: false });
    expect(eve.id).not.toBe("1");
    await own.remove();
  });

  describe("with custom columns", () => {
    let own: Place;
    let database: Database<Tables>;
    let Member: ReturnType<typeof userModel<Tables>>;
    beforeAll(async () => {
      own = await migratedPlace(engine);
      database = own.open<Tables>({ poolSize: 4 });
      await sql`alter table users add column plan text not null default 'free'`.execute(database);
      await sql`alter table users add column notes text`.execute(database);
      await sql`create unique index users_notes on users (notes)`.execute(database);
      Member = userModel(database);
    });
    afterAll(() => own?.remove());

    const foreign = {
      ID: "1",
      Password_Hash: "x",
      Credential_Version: 9,
      EMAIL_VERIFIED_AT: "2020-01-01",
      Email_Key: "y",
      Disabled_At: "2020-01-01",
      rowid: 4711,
      nope: 1,
      "plan ": "x",
      __proto: {},
      constructor: "x",
    };

    it("rejects every spelling of Portico's columns, and ignores unknown columns", async () => {
      const [made, other] = [userNamed(), userNamed()];
      const { password: _, ...names } = other;

      const ann = await Member.objects.createUser({ ...foreign, ...made, plan: "pro", notes: null } as never);
      const bob = await Member.objects.importUser({ ...foreign, ...names, passwordHash: null, plan: "pro" } as never);
      const changed = await Member.objects.update(ann, { ...foreign, password_hash: "x", plan: "free" } as never);

      for (const user of [ann, bob, changed])
        expect(user).toMatchObject({ credentialVersion: 1, isVerified: false, isDisabled: false });
      expect([ann.plan, bob.plan, changed.plan]).toEqual(["pro", "pro", "free"]);
      expect((await Member.objects.authenticate(made.username, PASSWORD))?.id).toBe(ann.id);
      expect((await Member.objects.get({ email: other.email }))?.id).toBe(bob.id);
      expect(await Member.objects.get({ id: "1" })).toBe(null);
    });

    it("accepts a column that a later migration added", async () => {
      await Member.objects.createUser({ ...userNamed(), plan: "pro", notes: null });
      const shade = { shade: "red" } as never;
      await sql`alter table users add column shade text`.execute(database);

      const ann = await Member.objects.createUser({ ...userNamed(), plan: "pro", notes: null, ...(shade as object) });

      expect(ann).toMatchObject(shade);
    });

    it("changes them, and notifies caches of the user", async () => {
      const bus = new MemoryPubSub();
      const Here = userModel(database, { cacheSeconds: 60, bus });
      const There = userModel(own.open<Tables>({ poolSize: 2 }), { cacheSeconds: 60, bus });
      const ann = await Here.objects.createUser({ ...userNamed(), plan: "free", notes: null });
      for (const Model of [Here, There]) await Model.loadUser(ann.id);
      await bus.settled();
      for (const Model of [Here, There]) await Model.loadUser(ann.id);

      const changed = await Here.objects.update(ann, { plan: "pro", notes: undefined });

      expect(changed).toMatchObject({ id: ann.id, plan: "pro", notes: null, credentialVersion: 1 });
      expect((await Here.loadUser(ann.id))?.plan).toBe("pro");
      await expect.poll(async () => (await There.loadUser(ann.id))?.plan).toBe("pro");
      expect((await Here.objects.update(ann, {})).plan).toBe("pro");
    });

    it("changes them together with other rows, or not at all", async () => {
      const ann = await Member.objects.createUser({ ...userNamed(), plan: "free", notes: null });
      const trx = await database.begin();

      const within = await Member.objects.within(trx).update(ann, { plan: "pro" });
      await trx.end("failure");

      expect(within.plan).toBe("pro");
      expect((await Member.loadUser(ann.id))?.plan).toBe("free");
    });

    it("returns 404 for an unknown user, and 409 for a value that another user has", async () => {
      const notes = randomUUID();
      await Member.objects.createUser({ ...userNamed(), plan: "free", notes });
      const ann = await Member.objects.createUser({ ...userNamed(), plan: "free", notes: null });

      await expect(Member.objects.update(ann, { notes })).rejects.toMatchObject({ status: 409, code: "CONFLICT" });
      for (const change of [{}, { notes: "other" }])
        await expect(Member.objects.update({ identity: "nobody" }, change)).rejects.toMatchObject({ status: 404 });
      const again = Member.objects.createUser({ ...userNamed(), plan: "free", notes });
      await expect(again).rejects.toMatchObject({ status: 409, code: "CONFLICT" });
    });
  });

  it.each([
    [{ name: "x" }, "received name"],
    [{}, "received object"],
    [null, "received object"],
    ["ann", "received string"],
    [{ email: undefined }, "received email: undefined"],
    [{ id: 7, email: "ann@x.example" }, "received id: number"],
  ])("explains how to identify a user when it gets %j", async (key, message) => {
    const found = User.objects.get(key as never);

    await expect(found).rejects.toThrow(TypeError);
    await expect(found).rejects.toThrow(`{ id }, { email } or { username } with a string, ${message}`);
  });

  it("[REQ-01] [REQ-02] stores a password only as an argon2id hash", async () => {
    const ann = await User.objects.createUser(userNamed());

    expect(await hashOf(ann.id)).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    const dump = JSON.stringify(await database.selectFrom("users").selectAll().execute());
    for (const encoding of ["utf8", "hex", "base64", "base64url"] as const)
      expect(dump).not.toContain(Buffer.from(PASSWORD).toString(encoding));
  });

  it("[auth:AU-184] shows no hash in inspect and JSON, however the user was created", async () => {
    const made = await User.objects.createUser(userNamed());
    const users = [
      made,
      await User.loadUser(made.identity),
      await User.objects.get({ email: made.email }),
      await User.objects.authenticate(made.username, PASSWORD),
    ];

    for (const user of users) {
      expect(user).not.toBe(null);
      expect(inspect(user, { depth: null, showHidden: true })).not.toMatch(/argon2|hash/i);
      expect(JSON.stringify(user)).not.toMatch(/argon2|hash/i);
    }
    expect(inspect(User.objects, { depth: null, showHidden: true })).not.toMatch(/argon2id\$/i);
  });

  it("[auth:AU-109] [auth:AU-110] compares addresses and names in canonical form, and keeps them as typed", async () => {
    const name = randomUUID();
    const ann = await User.objects.createUser({
      email: ` Jo.Élan+x@${name}.Example `,
      username: ` Jo ${name} `,
      password: PASSWORD,
    });

    expect([ann.email, ann.username]).toEqual([`Jo.Élan+x@${name}.Example`, `Jo ${name}`]);
    const same = [`jo.élan+x@${name}.example`, `JO.E\u0301LAN+X@${name}.EXAMPLE`, `  jo.élan+x@${name}.example\n`];
    for (const email of same) {
      expect((await User.objects.get({ email }))?.id).toBe(ann.id);
      await expect(User.objects.createUser({ ...userNamed(), email })).rejects.toMatchObject({ taken: "email" });
    }
    expect((await User.objects.get({ email: `ｊｏ.élan+x@${name}.example` }))?.id).toBe(ann.id);
    await expect(User.objects.createUser({ ...userNamed(), username: `JO ${name}` })).rejects.toMatchObject({
      name: "UserExists",
      status: 409,
      taken: "username",
    });
    // Another letter and another tag are other mailboxes.
    for (const email of [`jo.élan@${name}.example`, `jо.élan+x@${name}.example`, `jo.élan+x@${name}.ехample`])
      expect((await User.objects.createUser({ ...userNamed(), email })).id).not.toBe(ann.id);
    const dotless = await User.objects.createUser({ ...userNamed(), email: `mıke@${name}.example` });
    expect((await User.objects.createUser({ ...userNamed(), email: `mike@${name}.example` })).id).not.toBe(dotless.id);
  });

  it.each([
    { email: "no address" },
    { email: "a@b@c" },
    { email: "" },
    { email: "ann@x.example\nbcc: eve@x.example" },
    { email: `${"a".repeat(250)}@x.example` },
    { email: { $ne: null } },
    { username: "" },
    { username: "  " },
    { username: "eve@x.example" },
    { username: "ann\u202Eeve" },
    { username: "nul\0" },
    { username: 7 },
    { password: "7 bytes" },
    { password: "x".repeat(1_025) },
  ])("rejects %j with 422 and stores nothing", async (wrong) => {
    const input = { ...userNamed(), ...wrong } as ReturnType<typeof userNamed>;
    const count = async () => (await database.selectFrom("users").select("id").execute()).length;
    const before = await count();

    await expect(User.objects.createUser(input)).rejects.toMatchObject({ status: 422 });

    expect(await count()).toBe(before);
  });

  it("[auth:AU-110] treats a domain in Unicode and in Punycode as equal", async () => {
    const name = randomUUID();
    const ann = await User.objects.createUser({ ...userNamed(), email: `${name}@xn--bcher-kva.example` });

    expect(ann.email).toBe(`${name}@xn--bcher-kva.example`);
    expect((await User.objects.get({ email: `${name}@BÜCHER.example` }))?.id).toBe(ann.id);
    for (const email of [`${name}@bücher.example`, `${name}@XN--BCHER-KVA.example`])
      await expect(User.objects.createUser({ ...userNamed(), email })).rejects.toMatchObject({ taken: "email" });
  });

  it("[auth:AU-110] rejects every Unicode character in an address or a name that compares equal to another", async () => {
    const ann = await User.objects.createUser(userNamed());
    const taken: string[] = [];
    for (let code = 0; code < 0x110000; code++) {
      const character = code >= 0xd800 && code < 0xe000 ? "" : String.fromCodePoint(code);
      // Characters that differ only in case, or that Unicode treats as equal, may be typed.
      if (character.normalize("NFKC") === character.normalize("NFC")) continue;
      const [email, username] = [`a${character}b@x.example`, `a${character}b`];
      const attempts = [
        () => User.objects.importUser({ ...userNamed(), email, passwordHash: null }),
        () => User.objects.importUser({ ...userNamed(), username, passwordHash: null }),
        () => User.objects.setEmail(ann, email),
        () => User.objects.setEmail(ann, `a@x${character}.example`),
      ];
      for (const attempt of attempts)
        await attempt().then(
          () => taken.push(character),
          (error: unknown) => expect(error).toMatchObject({ status: 422 }),
        );
    }

    expect(taken).toEqual([]);
    await expect(User.objects.createUser({ ...userNamed(), username: "ﬁn" })).rejects.toMatchObject({
      status: 422,
      code: "NAME_NOT_CANONICAL",
    });
  });

  it("accepts the user's own address as a name, and never signs in with another user's address as a name", async () => {
    const name = randomUUID();
    const email = `${name}@x.example`;
    const ann = await User.objects.createUser({ email, username: email, password: PASSWORD });

    expect((await User.objects.authenticate(email.toUpperCase(), PASSWORD))?.id).toBe(ann.id);
  });

  it("[auth:AU-118] creates one user from 50 parallel registrations", async () => {
    const name = randomUUID();
    const cheap = userModel(database, { passwords: new PasswordHasher({ maxWaiting: 100 }) });

    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) =>
        cheap.objects.createUser({
          email: n % 2 === 0 ? `${name}@x.example` : `${name.toUpperCase()}@X.EXAMPLE`,
          username: `${name}${n}`,
          password: PASSWORD,
        }),
      ),
    );

    const refused = results.filter((result) => result.status === "rejected").map(({ reason }) => reason as unknown);
    expect(refused).toHaveLength(49);
    expect(refused.every((reason) => reason instanceof UserExists && reason.taken === "email")).toBe(true);
    const rows = await database.selectFrom("users").select("id").where("email_key", "=", `${name}@x.example`).execute();
    expect(rows).toHaveLength(1);
  });

  it("authenticates by address and by name, but no disabled user and no user without a password", async () => {
    const ann = await User.objects.createUser(userNamed());
    const none = await User.objects.createUser(userNamed());
    await setHash(none.id, null);

    expect((await User.objects.authenticate(ann.email.toUpperCase(), PASSWORD))?.id).toBe(ann.id);
    expect((await User.objects.authenticate(ann.username, PASSWORD))?.id).toBe(ann.id);
    expect(await User.objects.authenticate(ann.username, `${PASSWORD}x`)).toBe(null);
    expect(await User.objects.authenticate(ann.username, "short")).toBe(null);
    expect(await User.objects.authenticate(randomUUID(), PASSWORD)).toBe(null);
    expect(await User.objects.authenticate("nul\0", PASSWORD)).toBe(null);
    expect(await User.objects.authenticate(`' or 1=1 --`, PASSWORD)).toBe(null);
    expect(await User.objects.authenticate(none.username, PASSWORD)).toBe(null);
    await User.objects.disable(ann);
    expect(await User.objects.authenticate(ann.username, PASSWORD)).toBe(null);
    expect(await User.loadUser(ann.identity)).toBe(null);
    expect((await User.objects.get({ id: ann.id }))?.isDisabled).toBe(true);
    await User.objects.enable(ann);
    expect((await User.objects.authenticate(ann.username, PASSWORD))?.id).toBe(ann.id);
  });

  it("[REQ-18] [REQ-19] [auth:AU-111] verifies a hash of an older scheme, and replaces it only after a success", async () => {
    const Imported = userModel(database, { passwords: new PasswordHasher({ accepts: ["bcrypt", "pbkdf2"] }) });
    const { hash } = await import("@node-rs/bcrypt");
    const old = String(await bcrypt(hash, PASSWORD));
    const weak = await argon2(PASSWORD, { memoryCost: 64, timeCost: 1, parallelism: 1 });
    for (const passwordHash of [old, weak]) {
      const { password: _, ...names } = userNamed();
      const ann = await Imported.objects.importUser({ ...names, passwordHash });

      expect(await Imported.objects.authenticate(ann.username, "another password")).toBe(null);
      expect(await hashOf(ann.id)).toBe(passwordHash);
      expect((await Imported.objects.authenticate(ann.username, PASSWORD))?.id).toBe(ann.id);

      expect(await hashOf(ann.id)).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
      expect((await Imported.objects.authenticate(ann.username, PASSWORD))?.credentialVersion).toBe(1);
      expect(await Imported.objects.authenticate(ann.username, "another password")).toBe(null);
    }
  });

  it("[auth:AU-111] [auth:AU-112] treats an unreadable hash as a wrong password", async () => {
    const ann = await User.objects.createUser(userNamed());
    for (const broken of [
      "",
      PASSWORD,
      createHash("md5").update(PASSWORD).digest("hex"),
      createHash("sha1").update(PASSWORD).digest("hex"),
      "$argon2id$v=19$m=4294967295,t=2,p=1$YWFhYWFhYWE$YWFhYWFhYWFhYWFhYWFhYQ",
      "$2b$12$x",
    ]) {
      await setHash(ann.id, broken);

      expect(await User.objects.authenticate(ann.username, PASSWORD)).toBe(null);
      expect(await User.objects.authenticate(ann.username, broken)).toBe(null);
    }
  });

  it("[auth:AU-108] uses 72 bytes of a password with bcrypt, and the whole password after the first sign-in", async () => {
    const Imported = userModel(database, { passwords: new PasswordHasher({ accepts: ["bcrypt"] }) });
    const { hash } = await import("@node-rs/bcrypt");
    const long = "p".repeat(72);
    const { password: _, ...names } = userNamed();
    const ann = await Imported.objects.importUser({ ...names, passwordHash: String(await bcrypt(hash, `${long}one`)) });

    expect((await Imported.objects.authenticate(ann.username, `${long}two`))?.id).toBe(ann.id);

    expect(await hashOf(ann.id)).toMatch(/^\$argon2id\$/);
    expect(await Imported.objects.authenticate(ann.username, `${long}one`)).toBe(null);
    expect((await Imported.objects.authenticate(ann.username, `${long}two`))?.id).toBe(ann.id);
  });

  it("[auth:AU-113] leaves one valid hash after several parallel sign-ins with an old one", async () => {
    const ann = await User.objects.createUser(userNamed());
    await setHash(ann.id, await argon2(PASSWORD, { memoryCost: 64, timeCost: 1, parallelism: 1 }));

    const all = await Promise.all(Array.from({ length: 6 }, () => User.objects.authenticate(ann.username, PASSWORD)));

    expect(all.every((user) => user?.id === ann.id)).toBe(true);
    expect((await User.objects.authenticate(ann.username, PASSWORD))?.id).toBe(ann.id);
    expect(await hashOf(ann.id)).toMatch(/m=19456/);
  });

  it("does not restore an old password that is changed during a sign-in that replaces the hash", async () => {
    const ann = await User.objects.createUser(userNamed());
    await setHash(ann.id, await argon2(PASSWORD, { memoryCost: 64, timeCost: 1, parallelism: 1 }));

    await Promise.all([
      User.objects.authenticate(ann.username, PASSWORD),
      User.objects.setPassword(ann, "a new password"),
      User.objects.authenticate(ann.username, PASSWORD),
    ]);

    expect(await User.objects.authenticate(ann.username, PASSWORD)).toBe(null);
    expect((await User.objects.authenticate(ann.username, "a new password"))?.id).toBe(ann.id);
  });

  it("[auth:AU-114] signs in even if the new hash cannot be written", async () => {
    const own = await migratedPlace(engine);
    const database = own.open({ poolSize: 2 });
    const Own = userModel(database);
    const { password: _, ...names } = userNamed("ann");
    const passwordHash = await argon2(PASSWORD, { memoryCost: 64, timeCost: 1, parallelism: 1 });
    const ann = await Own.objects.importUser({ ...names, passwordHash });
    await refuseUpdates(database);

    expect((await Own.objects.authenticate("ann", PASSWORD))?.id).toBe(ann.id);

    await expect(Own.objects.enable(ann)).rejects.toThrow("read only");
    await own.remove();
  });

  it("raises the credential version for a new password, a renewal and a disabled user", async () => {
    const stores = memoryStores();
    const Told = userModel(database, { bus: stores.bus });
    const ann = await Told.objects.createUser(userNamed());
    const told = stores.bus.subscribe(revoked)[Symbol.asyncIterator]();
    const version = async () => (await Told.objects.get({ id: ann.id }))?.credentialVersion;

    await Told.objects.setPassword(ann, "a new password");
    expect(await version()).toBe(2);
    await Told.objects.renewCredentials(ann);
    expect(await version()).toBe(3);
    await Told.objects.disable(ann);
    expect(await version()).toBe(4);
    await Told.objects.enable(ann);
    await Told.objects.markVerified(ann);
    expect(await version()).toBe(4);
    expect((await Told.loadUser(ann.id))?.isVerified).toBe(true);

    for (let n = 0; n < 3; n++) expect((await told.next()).value).toEqual({ user: ann.id });
    await told.return?.();
    await expect(Told.objects.setPassword({ identity: "nobody" }, "a new password")).rejects.toMatchObject({
      status: 404,
    });
    await expect(Told.objects.setPassword(ann, "short")).rejects.toMatchObject({ status: 422 });
  });

  it("counts each of 50 parallel password changes", async () => {
    const ann = await User.objects.createUser(userNamed());
    const patient = userModel(database, { passwords: new PasswordHasher({ maxWaiting: 100 }) });

    await Promise.all(Array.from({ length: 50 }, (_, n) => patient.objects.setPassword(ann, `new password ${n}`)));

    expect((await User.loadUser(ann.id))?.credentialVersion).toBe(51);
  });

  it("grants and revokes permissions, and roles that hold permissions", async () => {
    const role = randomUUID();
    const ann = await User.objects.createUser(userNamed());
    const may = async () => (await User.loadUser(ann.id))?.permissions;
    await User.objects.defineRole(role, ["read:books", "write:books"]);

    await User.objects.grant(ann, { permissions: ["read:metrics", "read:books"], roles: [role] });
    await User.objects.grant(ann, { permissions: ["read:metrics"], roles: [role] });
    expect(await may()).toEqual(["read:books", "read:metrics", "write:books"]);
    expect((await User.loadUser(ann.id))?.roles).toEqual([role]);
    expect((await User.loadUser(ann.id))?.hasPermission("write:books")).toBe(true);
    await User.objects.defineRole(role, ["delete:books"]);
    expect(await may()).toEqual(["delete:books", "read:books", "read:metrics"]);
    await User.objects.revoke(ann, { permissions: ["read:metrics", "never:had"] });
    expect(await may()).toEqual(["delete:books", "read:books"]);
    await User.objects.revoke(ann, { roles: [role] });
    expect(await may()).toEqual(["read:books"]);
    await User.objects.grant(ann, { roles: [role] });
    await User.objects.deleteRole(role);
    expect(await may()).toEqual(["read:books"]);

    await expect(User.objects.grant(ann, { roles: ["no such"] })).rejects.toThrow('The role "no such" does not exist');
    await expect(User.objects.grant({ identity: "nobody" }, { permissions: ["x"] })).rejects.toMatchObject({
      status: 404,
    });
    await expect(User.objects.grant(ann, { permissions: [""] })).rejects.toThrow("non-empty strings");
  });

  it("creates a user together with other rows, or not at all", async () => {
    const kept = userNamed();
    for (const outcome of ["failure", "success"] as const) {
      const trx = await database.begin();
      await expect(User.objects.within(trx).createUser({ ...userNamed(), email: "none" })).rejects.toMatchObject({
        status: 422,
      });
      const ann = await User.objects.within(trx).createUser(kept);
      await User.objects.within(trx).grant(ann, { permissions: ["x"] });
      await expect(User.objects.within(trx).createUser(kept)).rejects.toThrow(UserExists);
      expect((await User.objects.within(trx).get({ id: ann.id }))?.permissions).toEqual(["x"]);
      await trx.end(outcome);

      expect((await User.objects.get({ email: kept.email })) !== null).toBe(outcome === "success");
    }
  });

  it("returns cached users from loadUser, and sees changes of any process immediately", async () => {
    const here = place.open({ poolSize: 2 });
    const there = place.open({ poolSize: 2 });
    // SQLite has no bus between processes: both are one process here.
    const bus = sqlStores(here).bus;
    const thereBus = engine === "PostgreSQL" ? sqlStores(there).bus : bus;
    const Cached = userModel(here, { cacheSeconds: 60, bus });
    const Other = userModel(there, { cacheSeconds: 60, bus: thereBus });
    const ann = await Cached.objects.createUser(userNamed());
    await Cached.loadUser(ann.id);
    await bus.settled();
    await Cached.loadUser(ann.id);

    await database.updateTable("users").set({ username: "behind its back" }).where("id", "=", ann.id).execute();
    expect((await Cached.loadUser(ann.id))?.username).toBe(ann.username);

    await Other.objects.grant(ann, { permissions: ["x"] });
    await expect.poll(async () => (await Cached.loadUser(ann.id))?.permissions).toEqual(["x"]);
    await Other.objects.setPassword(ann, "a new password");
    await expect.poll(async () => (await Cached.loadUser(ann.id))?.credentialVersion).toBe(2);
    await thereBus.publish(revoked, { user: ann.id });
    await Other.objects.disable(ann);
    await expect.poll(() => Cached.loadUser(ann.id)).toBe(null);
    await Cached.objects.enable(ann);
    expect((await Cached.loadUser(ann.id))?.id).toBe(ann.id);
  });

  it("publishes the changes of a transaction after its commit, and nothing that is rolled back", async () => {
    const bus = new MemoryPubSub();
    const here = place.open({ poolSize: 4 });
    const Cached = userModel(here, { cacheSeconds: 60, bus });
    const ann = await Cached.objects.createUser(userNamed());
    const told: unknown[] = [];
    const ending = new AbortController();
    void (async () => {
      for await (const news of bus.subscribe(revoked, { signal: ending.signal })) told.push(news);
    })();
    const version = async () => (await Cached.loadUser(ann.id))?.credentialVersion;
    await version();
    const change = async (outcome: "success" | "failure") => {
      const trx = await here.begin();
      const inner = await trx.begin();
      await Cached.objects.within(inner).setPassword(ann, "another password");
      await inner.end("success");
      // Another caller reads before the commit and finds the old values.
      await version();
      const before = told.length;
      await trx.end(outcome);
      await expect.poll(() => told.length).toBe(outcome === "success" ? 1 : 0);
      return before;
    };

    expect(await change("failure")).toBe(0);
    expect(await version()).toBe(1);
    expect(await change("success")).toBe(0);
    expect(await version()).toBe(2);
    ending.abort();
    await here.destroy();
  });

  it("caches nothing while it cannot receive changes, and resumes when it can", async () => {
    const bus = new MemoryPubSub({ maxQueued: 1 });
    const here = place.open({ poolSize: 2 });
    const Cached = userModel(here, { cacheSeconds: 60, bus });
    const ann = await Cached.objects.createUser(userNamed());
    const rename = (username: string) =>
      database.updateTable("users").set({ username }).where("id", "=", ann.id).execute();
    const name = async () => (await Cached.loadUser(ann.id))?.username;
    await name();
    await name();
    await rename("one");
    expect(await name()).toBe(ann.username);

    // More events than the queue holds, with no reader, cause a gap.
    for (let n = 0; n < 5; n++) void bus.publish(revoked, { user: "another" });

    await expect.poll(name).toBe("one");
    await name();
    await rename("two");
    expect(await name()).toBe("one");
    await here.destroy();
    expect(bus.topicCount).toBe(0);
  });

  it("removes an expired user from the cache", async () => {
    const Cached = userModel(database, { cacheSeconds: 0.2 });
    const ann = await Cached.objects.createUser(userNamed());
    await Cached.loadUser(ann.id);
    await database.updateTable("users").set({ username: "renamed" }).where("id", "=", ann.id).execute();

    expect((await Cached.loadUser(ann.id))?.username).toBe(ann.username);
    await expect.poll(async () => (await Cached.loadUser(ann.id))?.username).toBe("renamed");
  });
});

describe("userModel", () => {
  it.each([
    [{ cacheSeconds: -1 }, "userModel.cacheSeconds must be"],
    [{ passwords: {} }, "userModel.passwords must be a PasswordHasher"],
    [{ bus: {} }, "userModel.bus must be a PubSub"],
    [{ hasher: 1 }, 'userModel: unknown option "hasher"'],
  ])("rejects %j", async (options, message) => {
    const place = await migratedPlace("SQLite");

    expect(() => userModel(place.open(), options as object)).toThrow(message);

    await place.remove();
  });

  it("rejects anything but the result of openDatabase", () => {
    expect(() => userModel({} as Database)).toThrow("userModel.database must be the result of openDatabase");
  });
});

async function refuseUpdates(database: Database): Promise<void> {
  if (database.engine === "postgres") {
    await sql`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'read only'; end $$`.execute(
      database,
    );
    await sql`create trigger refuse before update on users execute function refuse()`.execute(database);
  } else {
    await sql`create trigger refuse before update on users begin select raise(abort, 'read only'); end`.execute(
      database,
    );
  }
}

/** Version 2 of the package takes its cost in an object. */
async function bcrypt(hash: (...args: never[]) => unknown, password: string): Promise<unknown> {
  return (hash as (password: string, options: object) => unknown)(password, { cost: 4 });
}
