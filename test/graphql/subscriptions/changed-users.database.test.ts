import { setImmediate as immediately, setTimeout as sleep } from "node:timers/promises";
import { memoryStores, type PubSub, type Stores, topic, userChanged } from "portico";
import { AuthenticationBackend, AuthenticationMiddleware, AuthResult, SimpleUser, type UserModel } from "portico/auth";
import { field, mutation, schema, subscription, t } from "portico/graphql";
import { redisStores } from "portico/redis";
import { type Database, userModel } from "portico/sql";
import { type LiveClient, logCatcher } from "portico/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { newPrefix, SHARED_URL } from "../../../lab/servers/redis-server.ts";
import { migratedPlace, type Place } from "../../sql/accounts/databases.ts";
import { type Opened, type OpenOptions, openGraph, rawSocket } from "./open.ts";
import { until } from "./until.ts";

const posted = topic<string>("test.posted");
const members = new Set<string>();
let asked: string[] = [];

const built = schema({
  query: { hello: field(t.string)(() => "world") },
  mutation: {
    leave: mutation(t.boolean, { params: { user: t.id } })(async ({ user, ctx }) => {
      members.delete(user);
      await ctx.pubsub.publish(userChanged, { user });
      return true;
    }),
  },
  subscription: {
    posts: subscription(t.string, {
      auth: (user) => {
        asked.push(user.identity);
        return members.has(user.identity);
      },
    })(async function* ({ ctx }) {
      yield* ctx.pubsub.subscribe(posted);
    }),
    reports: subscription(t.string, {
      auth: (user) => {
        asked.push(user.identity);
        return user.hasPermission("read:reports");
      },
    })(async function* ({ ctx }) {
      yield* ctx.pubsub.subscribe(posted);
    }),
  },
});

class ByHeader extends AuthenticationBackend {
  readonly scope = "apikey" as const;
  async authenticate(request: Parameters<AuthenticationBackend["authenticate"]>[0]): Promise<AuthResult> {
    const name = request.headers["x-user"];
    return name === undefined ? AuthResult.decline("nobody") : AuthResult.accept(name, this.scope);
  }
}

/** An application whose periodic recheck is too late for a test. */
function start(stores: Stores, model: UserModel<any> = SimpleUser, options: OpenOptions = {}): Promise<Opened> {
  return openGraph(built, {
    subscriptions: { connectsPerMinute: 0 },
    ...options,
    app: { stores, timeouts: { recheckSeconds: 1_000_000 }, ...options.app },
    declare: (app) => app.use(new AuthenticationMiddleware({ userModel: model, backend: [new ByHeader()] })),
  });
}

const modelOf = (loadUser: (identity: string) => Promise<SimpleUser>): UserModel<any> => ({ loadUser });

type RawSocket = Awaited<ReturnType<typeof rawSocket>>;
async function subscribed(client: LiveClient, user: string, name = "posts"): Promise<RawSocket> {
  const socket = await rawSocket(client, { init: true, headers: { "x-user": user } });
  const before = asked.length;
  socket.say({ type: "subscribe", id: "1", payload: { query: `subscription { ${name} }` } });
  await until(() => asked.length > before);
  return socket;
}
const FORBIDDEN = { id: "1", type: "error", payload: [{ extensions: { code: "FORBIDDEN" } }] };
/** Until the first connection of a process has started to listen, and was checked for what it missed. */
const settled = (): Promise<void> => sleep(200);
const onRedis = (): Stores[] => {
  const prefix = newPrefix();
  return [1, 2].map(() => redisStores(SHARED_URL, { prefix }));
};

beforeEach(() => {
  asked = [];
  members.clear();
  members.add("ada").add("bob");
});

describe("a change of a user", () => {
  it("that is published in one process ends a subscription in another at once, and nothing else", async () => {
    const [here, there] = (await Promise.all(onRedis().map((stores) => start(stores)))) as [Opened, Opened];
    const [ada, bob] = [await subscribed(there.client, "ada"), await subscribed(there.client, "bob")];
    const stream = there.client.post("/graphql", {
      headers: { "x-user": "ada", accept: "text/event-stream" },
      body: { query: "subscription { posts }" },
    });
    await until(() => asked.length >= 3);
    await settled();
    asked = [];

    await here.client.post("/graphql", { body: { query: 'mutation { leave(user: "ada") }' } });

    expect(await ada.hear()).toMatchObject(FORBIDDEN);
    expect((await stream).text()).toContain('"code":"FORBIDDEN"');
    expect(asked).toEqual(["ada", "ada"]);
    for (const socket of [ada, bob]) {
      socket.say({ type: "ping" });
      expect(await socket.hear()).toMatchObject({ type: "pong" });
    }
    await here.app.stores.bus.publish(posted, "hello");
    expect(await bob.hear()).toMatchObject({ id: "1", type: "next", payload: { data: { posts: "hello" } } });
  });

  it("rechecks every connection if it names no user", async () => {
    const { client, app } = await start(memoryStores());
    const sockets = [await subscribed(client, "ada"), await subscribed(client, "bob")];
    await settled();

    members.clear();
    await app.stores.bus.publish(userChanged, { user: null });

    for (const socket of sockets) expect(await socket.hear()).toMatchObject(FORBIDDEN);
  });

  it("rechecks a connection that was being opened at that moment", async () => {
    const opening = Promise.withResolvers<void>();
    const isLoading = Promise.withResolvers<void>();
    let permissions = ["read:reports"];
    let isSlow = false;
    const slow = modelOf(async (identity) => {
      const user = new SimpleUser(identity, permissions);
      if (isSlow) {
        isLoading.resolve();
        await opening.promise;
      }
      return user;
    });
    const { client, app } = await start(memoryStores(), slow);
    await subscribed(client, "bob", "reports");
    await settled();

    isSlow = true;
    const connecting = rawSocket(client, { headers: { "x-user": "ada" } });
    await isLoading.promise;
    permissions = [];
    await app.stores.bus.publish(userChanged, { user: "ada" });
    await sleep(20);
    isSlow = false;
    opening.resolve();
    const socket = await connecting;
    socket.say({ type: "connection_init" });
    expect(await socket.hear()).toMatchObject({ type: "connection_ack" });
    await sleep(50);
    socket.say({ type: "subscribe", id: "1", payload: { query: "subscription { reports }" } });

    expect(await socket.hear()).toMatchObject(FORBIDDEN);
  });

  it("loads the user after a cache of the application has dropped its copy", async () => {
    let permissions = ["read:reports"];
    const copies = new Map<string, SimpleUser>();
    const cached = modelOf(async (identity) => {
      const user = copies.get(identity) ?? new SimpleUser(identity, permissions);
      copies.set(identity, user);
      return user;
    });
    const { client, app } = await start(memoryStores(), cached);
    const socket = await subscribed(client, "ada", "reports");
    await settled();
    // The cache receives the event after the open connections do, and drops its copy in the same turn of the event loop.
    const end = new AbortController();
    const following = (async () => {
      for await (const { user } of app.stores.bus.subscribe(userChanged, end)) {
        for (let hop = 0; hop < 20; hop++) await Promise.resolve();
        copies.delete(user ?? "");
      }
    })();

    permissions = [];
    await app.stores.bus.publish(userChanged, { user: "ada" });

    expect(await socket.hear()).toMatchObject(FORBIDDEN);
    end.abort();
    await following;
  });

  it("ends nothing while the store is down, and is applied by the next recheck", async () => {
    let isDown = false;
    const frail = modelOf(async (identity) => {
      if (isDown) throw new Error("the store is down");
      return new SimpleUser(identity);
    });
    const log = logCatcher();
    const { client, app } = await start(memoryStores(), frail, { app: { logger: log } });
    const socket = await subscribed(client, "ada");
    await settled();

    isDown = true;
    members.delete("ada");
    await app.stores.bus.publish(userChanged, { user: "ada" });
    await until(() => log.text.includes("failed to recheck a credential"));
    socket.say({ type: "ping" });
    expect(await socket.hear()).toMatchObject({ type: "pong" });
    isDown = false;
    await app.stores.bus.publish(userChanged, { user: "ada" });

    expect(await socket.hear()).toMatchObject(FORBIDDEN);
  });
});

describe("a user model with a cache", () => {
  let place: Place;
  beforeAll(async () => {
    place = await migratedPlace("PostgreSQL");
  });
  afterAll(() => place?.remove());

  const withCache = (bus: PubSub | undefined, database: Database = place.open({ poolSize: 4 })) =>
    userModel(database, { cacheSeconds: 600, ...(bus === undefined ? {} : { bus }) });
  async function reader(model: ReturnType<typeof withCache>, name: string) {
    const user = await model.objects.createUser({
      email: `${name}@shop.example`,
      username: name,
      password: "correct horse battery",
    });
    await model.objects.grant(user, { permissions: ["read:reports"] });
    return user;
  }

  it.each([
    ["that listens on the same bus", true],
    ["that is not informed of changes", false],
  ])("%s does not keep an open connection from seeing the new permissions", async (_, isInformed) => {
    const [mine, yours] = onRedis() as [Stores, Stores];
    const model = withCache(mine.bus);
    await start(mine, model);
    const there = await start(yours, withCache(isInformed ? yours.bus : undefined));
    const user = await reader(model, isInformed ? "ann" : "eve");
    const socket = await subscribed(there.client, user.identity, "reports");
    await settled();

    await model.objects.revoke(user, { permissions: ["read:reports"] });

    expect(await socket.hear()).toMatchObject(FORBIDDEN);
  });

  it("loads a user with 1,000 connections at most once for each change, and rechecks each connection a few times", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const stores = memoryStores();
    let loads = 0;
    const model = withCache(
      stores.bus,
      place.open({ poolSize: 4, onStatement: ({ sql }) => void (loads += sql.includes("from users where") ? 1 : 0) }),
    );
    const { client, app } = await start(stores, model);
    const user = await reader(model, "max");
    const sockets: RawSocket[] = [];
    for (let i = 0; i < 1_000; i++)
      sockets.push(await rawSocket(client, { init: true, headers: { "x-user": user.identity } }));
    const before = asked.length;
    for (const socket of sockets)
      socket.say({ type: "subscribe", id: "1", payload: { query: "subscription { reports }" } });
    await until(() => asked.length === before + 1_000);
    await settled();
    [loads, asked] = [0, []];

    for (let i = 0; i < 99; i++) {
      await app.stores.bus.publish(userChanged, { user: user.identity });
      await immediately();
    }
    await model.objects.revoke(user, { permissions: ["read:reports"] });

    // A round of rechecks is begun at once, and another one with each beat.
    const heard: unknown[] = [];
    let beats = 0;
    for (const socket of sockets) void socket.hear().then((message) => heard.push(message));
    while (heard.length < 1_000) {
      beats++;
      vi.advanceTimersByTime(250);
      for (let quiet = 0; quiet < 20; quiet++) {
        const before = heard.length + asked.length;
        await sleep(5);
        if (heard.length + asked.length > before) quiet = 0;
      }
    }
    for (const message of heard) expect(message).toMatchObject(FORBIDDEN);
    expect(beats).toBeLessThan(10);
    expect(loads).toBeGreaterThan(0);
    expect(loads).toBeLessThanOrEqual(110);
    expect(asked.length).toBeLessThanOrEqual((1 + beats) * 1_000);
  });
});
