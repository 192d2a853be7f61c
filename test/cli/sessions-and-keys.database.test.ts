import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { PorticoApp, revoked } from "portico";
import {
  APIKeyAuthBackend,
  APIKeys,
  AuthenticationMiddleware,
  authentication,
  SessionAuthBackend,
  SessionMiddleware,
  useAuth,
} from "portico/auth";
import { redisStores } from "portico/redis";
import { sqlStores, userModel } from "portico/sql";
import { manualClock, testClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cookieHeader, signIn } from "../sign-in.ts";
import { engineNames, migratedPlace, type Place } from "../sql/accounts/databases.ts";
import { PASSWORD, REDIS_URL, runHere } from "./run-portico.ts";

const SECRET = "a secret of the tests, which is long enough";

/** The first column of each line below the headings. */
function ids(table: string): readonly string[] {
  const [, ...lines] = table.trimEnd().split("\n");
  return lines.map((line) => line.split(" ")[0] ?? "");
}

describe.each(engineNames)("portico user sessions and portico keys on %s", (engine) => {
  let place: Place;
  const run = (words: string, input = "") => {
    const stores = words.includes("--redis") ? [] : ["--stores", "database"];
    return runHere([...words.split(" "), "--database", place.url, ...stores], { input });
  };
  beforeAll(async () => {
    place = await migratedPlace(engine);
  });
  afterAll(() => place?.remove());

  it("accepts a session id that begins with a dash", async () => {
    const User = userModel(place.open({ poolSize: 2 }));
    await User.objects.createUser({ email: "dash@x.example", username: "dash", password: PASSWORD });

    for (const start of ["-", "--", "-V", "-h", "--help", "--json", "--revoke-all"]) {
      const id = start.padEnd(43, "a");
      expect(await run(`user sessions dash --revoke ${id}`)).toMatchObject({
        code: 1,
        err: `portico: dash has no session "${id}"\n`,
      });
    }
    expect((await run("user sessions dash --revoke --revoke-all")).code).toBe(2);
    expect((await run(`user sessions dash --revoke-all --revoke ${"a".repeat(43)}`)).code).toBe(2);
  });

  it("lists and revokes sessions and API keys of a running application", async () => {
    const database = place.open({ poolSize: 2 });
    const stores = sqlStores(database);
    const User = userModel(database);
    const cat = await User.objects.createUser({ email: "cat@x.example", username: "cat", password: PASSWORD });
    const app = new PorticoApp({ logger: false, stores })
      .use(new SessionMiddleware({ secret: SECRET }))
      .use(
        new AuthenticationMiddleware({ userModel: User, backend: [new SessionAuthBackend(), new APIKeyAuthBackend()] }),
      )
      .post("/login", async ({ request }) => request.sessions.login(cat))
      .get("/me", { auth: useAuth() }, ({ user }) => user.displayName);
    const client = testClient(app);
    const [one, two] = [(await signIn(client)).cookie, (await signIn(client)).cookie];
    const status = async (headers: Record<string, string>) => (await client.get("/me", { headers })).status;
    const told = stores.bus.subscribe(revoked)[Symbol.asyncIterator]();
    await stores.bus.settled();

    const listed = await run("user sessions cat");
    expect(listed.out).toMatch(/^ID +CREATED +EXPIRES AT THE LATEST +ADDRESS +DEVICE\n/);
    expect(ids(listed.out)).toHaveLength(2);
    const newest = ids(listed.out)[0] ?? "";
    expect(JSON.parse((await run("user sessions cat --json")).out)).toMatchObject({
      sessions: [{ id: newest, createdAt: expect.stringMatching(/Z$/), expiresAt: expect.stringMatching(/Z$/) }, {}],
    });
    expect((await run(`user sessions cat --revoke ${newest}`)).out).toBe("revoked 1 session of cat\n");
    expect([await status({ cookie: one }), await status({ cookie: two })]).toEqual([200, 401]);
    expect((await run(`user sessions cat --revoke ${newest}`)).code).toBe(1);
    expect((await run("user sessions cat --revoke-all")).out).toBe("revoked 1 session of cat\n");
    expect(await status({ cookie: one })).toBe(401);
    expect((await run("user sessions cat")).out).toBe("no sessions\n");

    const made = await run("keys create cat --name backup --permission read:books --days 30");
    const key = made.out.trim();
    expect(made).toMatchObject({ code: 0, err: expect.stringContaining("the only time the key is shown") });
    expect(await status({ "x-api-key": key })).toBe(200);
    const id = key.split("_")[1] ?? "";
    expect((await run("keys list cat")).out).toMatch(
      new RegExp(`^${id} .*${key.slice(-4)} .* read:books +backup\\n$`, "m"),
    );
    expect(JSON.parse((await run("keys list cat --json")).out)).toEqual({
      keys: [
        {
          id,
          name: "backup",
          lastFour: key.slice(-4),
          permissions: ["read:books"],
          createdAt: expect.any(String),
          expiresAt: expect.any(String),
          lastUsedAt: expect.any(String),
        },
      ],
    });
    await User.objects.createUser({ email: "ann@x.example", username: "ann", password: PASSWORD });
    expect((await run(`keys revoke ann ${id}`)).code).toBe(1);
    expect(await status({ "x-api-key": key })).toBe(200);
    expect((await run(`keys revoke cat ${id}`)).out).toBe(`revoked ${id}\n`);
    expect(await status({ "x-api-key": key })).toBe(401);
    expect((await run("keys create cat --days soon")).err).toContain(
      'portico: --days must be a whole number of at least 1, or "never"\n',
    );
    // Only PostgreSQL carries events from the program to the application.
    const heard = engine === "PostgreSQL" ? (await told.next()).value : null;
    expect(heard).toEqual(engine === "PostgreSQL" ? { user: cat.id, credential: `session:${newest}` } : null);
    await told.return?.();
    await app.close();
  });

  it("ends everything that gives access when it replaces a password, except API keys that are kept", async () => {
    const database = place.open({ poolSize: 2 });
    const stores = sqlStores(database);
    const User = userModel(database);
    const mails: (string | null)[] = [];
    await User.objects.createUser({ email: "pas@x.example", username: "pas", password: PASSWORD });
    const app = new PorticoApp({ logger: false, stores, publicUrl: "https://shop.example" })
      .use(
        authentication({
          userModel: User,
          secret: SECRET,
          audience: "shop",
          mailer: async ({ url }) => void mails.push(url),
          resetPage: "/reset",
        }),
      )
      .get("/me", { auth: useAuth() }, ({ user }) => user.displayName);
    const client = testClient(app);
    const post = (path: string, body: object) => client.post(`/account${path}`, { body });
    const credentials = async (password: string) => {
      const body = { identifier: "pas", password };
      const { cookie } = cookieHeader(await post("/login", body));
      const tokens = (await post("/token", body)).json() as Record<string, string>;
      return { cookie, bearer: `Bearer ${tokens["access_token"]}`, refresh: tokens["refresh_token"] };
    };
    const status = async (headers: object) => (await client.get("/me", { headers: { ...headers } })).status;
    const before = await credentials(PASSWORD);
    const key = (await run("keys create pas")).out.trim();
    await post("/password/reset", { email: "pas@x.example" });
    await expect.poll(() => mails).toHaveLength(1);
    const access = [{ cookie: before.cookie }, { authorization: before.bearer }, { "x-api-key": key }];
    expect(await Promise.all(access.map(status))).toEqual([200, 200, 200]);

    expect(await run("user password pas --keep-keys", "another horse battery")).toMatchObject({
      code: 0,
      err: "API keys and links to reset the password are still valid.\n",
    });
    expect(await Promise.all(access.map(status))).toEqual([401, 401, 200]);
    expect((await post("/refresh", { refresh_token: before.refresh })).status).toBe(401);

    const after = await credentials("another horse battery");
    expect(await run("user password pas", "a third horse battery")).toMatchObject({ code: 0, err: "" });
    expect([await status({ cookie: after.cookie }), await status({ "x-api-key": key })]).toEqual([401, 401]);
    expect((await run("user sessions pas")).out).toBe("no sessions\n");
    const token = new URL(mails[0] ?? "").searchParams.get("token") ?? "";
    expect((await post("/password/reset/confirm", { token, password: "the thief's password" })).status).toBe(400);
    expect((await credentials("a third horse battery")).bearer).not.toContain("undefined");
    await app.close();
  });

  it("finds all sessions of an application with longer lifetimes, and does not shorten them", async () => {
    const database = place.open({ poolSize: 2 });
    const User = userModel(database);
    const dan = await User.objects.createUser({ email: "dan@x.example", username: "dan", password: PASSWORD });
    const days = 86_400;
    const clock = manualClock(Date.now() - 20 * days * 1000);
    const app = new PorticoApp({ logger: false, stores: sqlStores(database), clock })
      .use(
        new SessionMiddleware({
          secret: SECRET,
          rememberedIdleSeconds: 300 * days,
          rememberedAbsoluteSeconds: 400 * days,
        }),
      )
      .post("/login", async ({ request }) => request.sessions.login(dan, { remember: true }));
    const client = testClient(app);
    for (let count = 0; count < 3; count++) await client.post("/login");

    const listed = ids((await run("user sessions dan")).out);
    expect(listed).toHaveLength(3);
    expect((await run(`user sessions dan --revoke ${listed[0]}`)).code).toBe(0);

    // The list of a user's sessions is what ends them all: it must not be gone before they are.
    const { expires_ms } = await database
      .selectFrom("portico_entries")
      .select("expires_ms")
      .where("key", "like", "sessions-of:%")
      .orderBy("expires_ms", "desc")
      .executeTakeFirstOrThrow();
    expect(Number(expires_ms)).toBeGreaterThan(Date.now() + 400 * days * 1000);
    await app.close();
  });

  it("finds the data of an application with its own prefix in Redis", async () => {
    const database = place.open({ poolSize: 2 });
    const prefix = `cli-${randomUUID()}`;
    const fay = await userModel(database).objects.createUser({
      email: "fay@x.example",
      username: "fay",
      password: PASSWORD,
    });
    const { durable } = redisStores(REDIS_URL, { prefix });
    await new APIKeys({ store: durable }).create(fay, { name: "backup" });

    expect((await run(`keys list fay --redis ${REDIS_URL}`)).out).toBe("no keys\n");
    const { out } = await run(`keys list fay --redis ${REDIS_URL} --redis-prefix ${prefix}`);
    expect(out).toContain("backup");
    const [id] = ids(out);
    expect((await run(`keys revoke fay ${id} --redis ${REDIS_URL} --redis-prefix ${prefix}`)).code).toBe(0);
    await durable.close();
  });

  it("removes control characters from the names of keys", async () => {
    const database = place.open({ poolSize: 2 });
    const eve = await userModel(database).objects.createUser({
      email: "eve@x.example",
      username: "eve",
      password: PASSWORD,
    });
    const name = "a\u001b]0;owned\u0007\u001b[2J\nfake  line\u202e";
    await new APIKeys({ store: sqlStores(database).durable }).create(eve, { name: "a plain name" });
    // An earlier version accepted such names.
    await sql`update portico_entries set value = replace(value, 'a plain name', ${JSON.stringify(name).slice(1, -1)})`.execute(
      database,
    );

    const { out } = await run("keys list eve");

    expect(out).toMatch(/ {2}a\]0;owned\[2Jfake {2}line\n$/);
    expect(out.trimEnd().split("\n")).toHaveLength(2);
  });
});

describe("portico", () => {
  it.each([
    "keys create ann",
    "keys list ann",
    "keys revoke ann x",
    "user sessions ann --revoke-all",
    "user password ann",
  ])("does not guess where an application keeps its sessions and keys: %s", async (words) => {
    const answer = await runHere([...words.split(" "), "--database", "sqlite::memory:"]);

    expect(answer).toMatchObject({ code: 2, out: "" });
    expect(answer.err).toContain("pass --redis <url> or set REDIS_URL if the application uses redisStores");
    expect(answer.err).toContain("pass --stores database if it uses sqlStores");
  });
});
