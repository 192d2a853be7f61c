import { randomUUID } from "node:crypto";
import { PorticoApp, type Stores, userChanged } from "portico";
import { authentication, useAuth } from "portico/auth";
import { redisStores } from "portico/redis";
import { type Database, sqlStores, userModel } from "portico/sql";
import { testClient } from "portico/testing";
import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { newPrefix, RedisServer, SHARED_URL } from "../../lab/servers/redis-server.ts";
import { migratedPlace, type Place } from "../sql/accounts/databases.ts";
import { removeKeys } from "./remove-keys.ts";

const PASSWORD = "correct horse battery";
let place: Place;
let prefix: string;
const opened: Stores[] = [];
const open = (url = SHARED_URL) => {
  const stores = redisStores(url, { prefix, timeoutSeconds: 1 });
  opened.push(stores);
  return stores;
};
beforeAll(async () => {
  place = await migratedPlace("PostgreSQL");
  prefix = newPrefix();
});
afterEach(async () => {
  for (const { durable, counters, bus } of opened.splice(0))
    for (const store of [durable, counters, bus]) await store.close?.();
});
afterAll(async () => {
  await place?.remove();
  await removeKeys(prefix);
});

/** A user model and the number of statements that its database has run. */
function counted(stores: Stores) {
  let statements = 0;
  const database: Database = place.open({ poolSize: 2, onStatement: () => void statements++ });
  return { database, User: userModel(database, { bus: stores.bus }), statements: () => statements };
}
let people = 0;
const newUser = () => ({ email: `user${++people}@shop.example`, username: `user${people}`, password: PASSWORD });

describe("an authenticated request", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(() => redis?.remove());

  it.each(["session", "token"] as const)(
    "with a %s sends one command to Redis and, while its user is cached, no statement to PostgreSQL",
    async (kind) => {
      const stores = open(redis.url);
      const { User, statements } = counted(stores);
      const app = new PorticoApp({ stores, logger: false, publicUrl: "http://shop.example" })
        .use(authentication({ userModel: User, secret: "a secret of at least thirty-two bytes", audience: "shop" }))
        .get("/me", { auth: useAuth() }, ({ user }) => user.displayName);
      const { email: identifier, username } = await User.objects.createUser(newUser());
      const client = testClient(app).withCookies();
      const path = kind === "session" ? "/account/login" : "/account/token";
      const signedIn = await client.post(path, { body: { identifier, password: PASSWORD } });
      const { access_token } = signedIn.json() as { readonly access_token?: string };
      const headers: Record<string, string> = kind === "token" ? { authorization: `Bearer ${access_token}` } : {};
      // The second request finds the subscriptions of the cache active and fills it.
      await client.get("/me", { headers });
      await stores.bus.settled();
      await client.get("/me", { headers });
      const commands: string[] = [];
      const monitor = await createClient({ url: redis.url }).connect();
      // Heartbeats of connections are no part of a request.
      await monitor.monitor((line) => void (/"PING"$/i.test(line) || commands.push(line)));
      const before = statements();

      const answers = await Promise.all(Array.from({ length: 10 }, () => client.get("/me", { headers })));
      await stores.durable.get("end");
      await expect.poll(() => commands.at(-1)).toContain("{end}");
      monitor.destroy();

      expect(answers.map((answer) => answer.json())).toEqual(Array.from({ length: 10 }, () => username));
      expect(commands.slice(0, -1).map((line) => line.split('"')[1])).toEqual(Array.from({ length: 10 }, () => "GET"));
      expect(statements() - before).toBe(0);
    },
  );

  it("is denied at once after another process has taken its permission or disabled its user", async () => {
    const [here, there] = [counted(open()), counted(open())];
    const stores = opened[0] as Stores;
    const app = new PorticoApp({ stores, logger: false, publicUrl: "http://shop.example" })
      .use(authentication({ userModel: here.User, secret: "a secret of at least thirty-two bytes", audience: "shop" }))
      .get("/books", { auth: useAuth({ permissions: ["read:books"] as never }) }, () => "books");
    const user = await here.User.objects.createUser(newUser());
    const client = testClient(app).withCookies();
    await client.post("/account/login", { body: { identifier: user.email, password: PASSWORD } });
    const status = async () => (await client.get("/books")).status;
    await status();
    await stores.bus.settled();
    expect(await status()).toBe(403);

    await there.User.objects.grant(user, { permissions: ["read:books"] });
    await expect.poll(status).toBe(200);
    await there.User.objects.revoke(user, { permissions: ["read:books"] });
    await expect.poll(status).toBe(403);
    await there.User.objects.disable(user);
    await expect.poll(status).toBe(401);
  });
});

describe("a user model with a bus on Redis", () => {
  it("loads users from the database while Redis is down, and caches them again afterwards", async () => {
    const redis = await RedisServer.start();
    try {
      const stores = open(redis.url);
      const { User, database } = counted(stores);
      const user = await User.objects.createUser(newUser());
      const rename = (username: string) =>
        database.updateTable("users").set({ username }).where("id", "=", user.id).execute();
      const name = async () => (await User.loadUser(user.id))?.username;
      const isCached = async () => {
        const [before, unseen] = [await name(), `unseen ${randomUUID()}`];
        await rename(unseen);
        const after = await name();
        return after === before;
      };
      await name();
      await expect.poll(isCached).toBe(true);

      await redis.kill();
      await expect.poll(() => stores.bus.isConnected).toBe(false);
      await rename("changed during the outage");
      expect(await name()).toBe("changed during the outage");
      await rename("changed again");
      expect(await name()).toBe("changed again");

      await redis.start();
      await expect.poll(isCached).toBe(true);
    } finally {
      await redis.remove();
    }
  });
});

describe("the cache of a user model", () => {
  it.each([
    ["with a bus on Redis", () => open().bus, true],
    ["with a bus on PostgreSQL", () => sqlStores(place.open({ poolSize: 2 })).bus, true],
    ["with a bus in memory, which other processes do not share", () => new PorticoApp().stores.bus, false],
    ["without a bus", () => undefined, false],
  ])("by default, %s", async (_, busOf, isOn) => {
    const bus = busOf();
    const database = place.open({ poolSize: 2 });
    const User = userModel(database, bus === undefined ? {} : { bus });
    const user = await User.objects.createUser(newUser());
    await User.loadUser(user.id);
    await bus?.settled();
    await User.loadUser(user.id);

    await database.updateTable("users").set({ username: "unpublished" }).where("id", "=", user.id).execute();
    expect((await User.loadUser(user.id))?.username).toBe(isOn ? user.username : "unpublished");

    await bus?.publish(userChanged, { user: user.id });
    await expect.poll(async () => (await User.loadUser(user.id))?.username).toBe("unpublished");
  });

  it("sees a change that is not published when the entry expires", async () => {
    const { User, database } = counted(open());
    const user = await User.objects.createUser(newUser());
    await User.loadUser(user.id);
    await opened[0]?.bus.settled();
    await User.loadUser(user.id);

    await database.updateTable("users").set({ disabled_at: new Date() }).where("id", "=", user.id).execute();

    await expect.poll(() => User.loadUser(user.id), { timeout: 60_000, interval: 100 }).toBe(null);
  });
});
