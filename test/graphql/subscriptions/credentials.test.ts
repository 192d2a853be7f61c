import { setTimeout as sleep } from "node:timers/promises";
import { HttpException, memoryStores, type PorticoApp, type Stores } from "portico";
import {
  AuthenticationBackend,
  AuthenticationMiddleware,
  AuthResult,
  JWTAuthBackend,
  SessionAuthBackend,
  SessionMiddleware,
  SimpleUser,
  TokenForUser,
  useAuth,
} from "portico/auth";
import { field, schema, subscription, t } from "portico/graphql";
import {
  type LiveClient,
  logCatcher,
  type ManualClock,
  manualClock,
  type SocketRefused,
  type TestSocket,
} from "portico/testing";
import { describe, expect, it } from "vitest";
import { signIn } from "../../sign-in.ts";
import { collect, type Opened, type OpenOptions, openGraph, rawSocket, wsClient } from "./open.ts";

const SECRET = "a secret for tokens, which is long enough for them";
const COOKIES = "a secret for cookies, which is long enough as well";
const START = Date.UTC(2026, 10, 15);

const built = schema({
  query: { hello: field(t.string)(() => "world") },
  subscription: {
    me: subscription(t.string)(async function* ({ ctx }) {
      yield `${ctx.user.identity} by ${ctx.scope.auth}`;
    }),
    waits: subscription(t.string)(async function* ({ ctx }) {
      yield "waiting";
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    }),
    mine: subscription(t.string, { auth: true })(async function* ({ ctx }) {
      yield ctx.user.identity;
    }),
  },
});

/** A backend that cannot say who it is while its store is down. */
class Broken extends AuthenticationBackend {
  readonly scope = "apikey" as const;
  override carries(request: { readonly headers: Readonly<Record<string, string | undefined>> }): boolean {
    return request.headers["x-api-key"] !== undefined;
  }
  async authenticate(request: Parameters<AuthenticationBackend["authenticate"]>[0]): Promise<AuthResult> {
    if (this.carries(request)) throw new Error("the store of keys is down");
    return AuthResult.decline("no key");
  }
}

interface AuthOptions extends OpenOptions {
  readonly clock?: ManualClock;
  readonly stores?: Stores;
  readonly gated?: boolean;
}

function start({
  clock = manualClock(START),
  stores = memoryStores(),
  gated = false,
  ...others
}: AuthOptions = {}): Promise<Opened> {
  return openGraph(built, {
    ...others,
    ...(gated ? { auth: useAuth() } : {}),
    app: { clock, stores, ...others.app },
    declare(app) {
      others.declare?.(app);
      app.use(new SessionMiddleware({ secret: COOKIES }));
      const backend = [
        new JWTAuthBackend({ secretKey: SECRET, identifier: "sub", clock }),
        new SessionAuthBackend(),
        new Broken(),
      ];
      app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend }));
      app.post("/login/:name", ({ request, path }) => request.sessions.login(new SimpleUser(path.name)));
      app.post("/logout", ({ request }) => request.sessions.logout());
      app.post("/revoke-others", async ({ request }) => ({ count: await request.sessions.revokeOthers() }));
      app.post("/revoke-all", async ({ request }) => ({ count: await request.sessions.revokeAll() }));
    },
  });
}

async function token(clock: ManualClock, seconds = 600): Promise<string> {
  const options = { secret: SECRET, clock, accessSeconds: seconds };
  const { access_token } = await new TokenForUser(new SimpleUser("ann"), options).tokenPair();
  return access_token;
}

async function cookie(client: LiveClient, name = "bob"): Promise<string> {
  return (await signIn(client, `/login/${name}`)).cookie;
}

async function refusedBy(opening: Promise<unknown>): Promise<SocketRefused["response"]> {
  return opening.then(
    () => expect.fail("the socket was opened"),
    (error: unknown) => (error as SocketRefused).response,
  );
}

describe("at the upgrade", () => {
  it("[SUB-08] [graphql:D11] rejects a foreign Origin, and accepts a listed one and its own", async () => {
    const { client } = await start({ app: { origins: ["https://shop.example"] } });
    const from = (origin: string) => rawSocket(client, { headers: { origin } });

    const refused = await refusedBy(from("https://evil.example"));

    expect(refused.status).toBe(403);
    expect(refused.json()).toMatchObject({ errors: [{ extensions: { code: "ORIGIN_REFUSED" } }] });
    expect((await from("https://shop.example")).protocol).toBe("graphql-transport-ws");
    expect((await from(`http://127.0.0.1:${client.port}`)).protocol).toBe("graphql-transport-ws");
  });

  it("[graphql:D12] compares the Origin with publicUrl, never with the Host header, which any client can set", async () => {
    const { client } = await start({ app: { publicUrl: "https://api.example" } });
    const spoofed = { host: "evil.example", origin: "http://evil.example" };

    expect((await refusedBy(rawSocket(client, { headers: spoofed }))).status).toBe(403);
    expect((await rawSocket(client, { headers: { origin: "https://api.example" } })).protocol).not.toBe("");
  });

  it.each([true, false])(
    "[SUB-14] [auth:AU-167] rejects an invalid credential with 401 instead of 101, gated: %s",
    async (gated) => {
      const clock = manualClock(START);
      const { client } = await start({ clock, gated });
      const expired = await token(clock, 60);
      const good = await cookie(client);
      clock.advance(120_000);
      const bad: readonly Record<string, string>[] = [
        { authorization: `Bearer ${expired}` },
        { authorization: "Bearer nonsense" },
        { cookie: `${good}x` },
      ];

      for (const headers of bad) {
        const refused = await refusedBy(rawSocket(client, { headers }));
        expect(refused.status).toBe(401);
        expect(refused.headers["www-authenticate"]).toContain("Bearer");
        expect(refused.json()).toMatchObject({ errors: [{ extensions: { code: "UNAUTHENTICATED" } }] });
      }
      expect((await rawSocket(client, { headers: { cookie: good }, init: true })).protocol).not.toBe("");
    },
  );

  it("returns 503 while authentication is unavailable, and closes with 1013 if that happens after the upgrade", async () => {
    const { client } = await start();

    const refused = await refusedBy(rawSocket(client, { headers: { "x-api-key": "k" } }));
    const late = await rawSocket(client);
    late.say({ type: "connection_init", payload: { "X-API-Key": "k" } });

    expect(refused.status).toBe(503);
    expect(refused.headers["retry-after"]).toBe("5");
    expect((await late.closed).code).toBe(1013);
  });

  it("[graphql:I14] returns 429 when one address connects too often", async () => {
    const { client } = await start({ subscriptions: { connectsPerMinute: 3 } });
    for (let n = 0; n < 3; n++) await rawSocket(client);

    const refused = await refusedBy(rawSocket(client));

    expect(refused.status).toBe(429);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect((await client.get("/graphql", { query: { query: "{ hello }" } })).status).toBe(200);
  });
});

describe("after connection_init", () => {
  it("[SUB-09] runs the same middleware, whether the credential comes at the upgrade or in connection_init", async () => {
    const clock = manualClock(START);
    const seen: string[] = [];
    const { url } = await start({
      clock,
      declare: (app) =>
        app.use(async (ctx, next) => {
          seen.push(`${ctx.kind} in`);
          await next();
          seen.push(`${ctx.user.identity} out`);
        }),
    });
    const authorization = `Bearer ${await token(clock)}`;

    const early = wsClient(url, { headers: { authorization } });
    expect(await collect(early, "subscription { me }")).toEqual([{ me: "ann by jwt" }]);
    expect(seen).toEqual(["websocket in"]);
    await early.dispose();
    await expect.poll(() => seen).toEqual(["websocket in", "ann out"]);
    seen.length = 0;

    const late = wsClient(url, { connectionParams: { authorization } });
    expect(await collect(late, "subscription { me }")).toEqual([{ me: "ann by jwt" }]);
    await late.dispose();
    await expect.poll(() => seen.toSorted()).toEqual([" out", "ann out", "websocket in", "websocket in"]);
  });

  it("[SUB-10] [SUB-15] [auth:AU-167] upgrades a socket without a credential, and its gate closes 4403", async () => {
    const { client } = await start({ gated: true });
    const socket = await rawSocket(client);

    socket.say({ type: "connection_init" });

    expect(await socket.closed).toEqual({ code: 4403, reason: "Authentication required" });
  });

  it("[SUB-10] handles a gated field as over HTTP", async () => {
    const { client } = await start();
    const socket = await rawSocket(client, { init: true });

    socket.say({ type: "subscribe", id: "1", payload: { query: "subscription { mine }" } });

    expect(await socket.hear()).toMatchObject({
      id: "1",
      type: "error",
      payload: [{ path: ["mine"], extensions: { code: "UNAUTHENTICATED" } }],
    });
  });

  it("[SUB-16] [auth:AU-170] accepts a bearer token in connection_init, and none in the URL", async () => {
    const clock = manualClock(START);
    const { client, url } = await start({ clock, gated: true });
    const access = await token(clock);

    const client1 = wsClient(url, { connectionParams: { Authorization: `Bearer ${access}` } });
    expect(await collect(client1, "subscription { me }")).toEqual([{ me: "ann by jwt" }]);

    const inAddress = await rawSocket(client, {
      path: `/graphql?access_token=${access}&authorization=Bearer%20${access}`,
    });
    inAddress.say({ type: "connection_init" });
    const bad = await rawSocket(client);
    bad.say({ type: "connection_init", payload: { authorization: `Bearer ${access}x` } });
    expect((await inAddress.closed).code).toBe(4403);
    expect((await bad.closed).code).toBe(4403);
  });

  it("closes with 1011 when a middleware breaks, and only the log has the reason", async () => {
    const log = logCatcher();
    let isBroken = false;
    const { client } = await start({
      app: { logger: log },
      declare: (app) =>
        app.use(async (_ctx, next) => {
          if (isBroken) throw new Error("tulip");
          await next();
        }),
    });
    const socket = await rawSocket(client);
    isBroken = true;

    socket.say({ type: "connection_init", payload: { authorization: "Bearer x" } });

    expect(await socket.closed).toEqual({ code: 1011, reason: "internal error" });
    expect(log.text).toContain("tulip");
  });
});

describe("a credential that ends", () => {
  it("[SUB-11] [graphql:I16] [auth:AU-169] closes the socket when its token expires", async () => {
    const clock = manualClock(START);
    const { client } = await start({ clock });
    const authorization = `Bearer ${await token(clock, 60)}`;
    const early = await rawSocket(client, { headers: { authorization }, init: true });
    const late = await rawSocket(client);
    late.say({ type: "connection_init", payload: { authorization } });
    expect((await late.hear()).type).toBe("connection_ack");
    const nobody = await rawSocket(client, { init: true });

    clock.advance(59_000);
    nobody.say({ type: "ping" });
    await nobody.hear();
    await sleep(400);
    early.say({ type: "ping" });
    expect((await early.hear()).type).toBe("pong");
    clock.advance(1_000);

    expect(await early.closed).toEqual({ code: 4403, reason: "the credential has expired" });
    expect(await late.closed).toEqual({ code: 4403, reason: "the credential has expired" });
    nobody.say({ type: "ping" });
    expect((await nobody.hear()).type).toBe("pong");
  });

  it("[SUB-12] [graphql:I16] [auth:AU-169] closes at once the sockets of a session that is revoked, in every process", async () => {
    const stores = memoryStores();
    const [here, there] = [await start({ stores }), await start({ stores })];
    const [mine, other] = [await cookie(here.client), await cookie(here.client)];
    const socket = await rawSocket(there.client, { headers: { cookie: mine }, init: true });
    const kept = await rawSocket(there.client, { headers: { cookie: other }, init: true });
    socket.say({ type: "subscribe", id: "1", payload: { query: "subscription { waits }" } });
    await socket.hear();

    // The clock stands still, so the sockets are not rechecked.
    await here.client.post("/logout", { headers: { cookie: mine } });
    expect(await socket.closed).toEqual({ code: 4403, reason: "the credential was revoked" });

    kept.say({ type: "ping" });
    expect((await kept.hear()).type).toBe("pong");
  });

  it.each(["revoke-others", "revoke-all"] as const)(
    "[SUB-12] closes only connections whose credential ended by %s",
    async (path) => {
      const { client } = await start();
      const [mine, other, strangers] = [await cookie(client), await cookie(client), await cookie(client, "eve")];
      const [own, revoked, foreign] = await Promise.all(
        [mine, other, strangers].map((value) => rawSocket(client, { headers: { cookie: value }, init: true })),
      );

      expect((await client.post(`/${path}`, { headers: { cookie: mine } })).status).toBe(200);

      expect((await revoked?.closed)?.code).toBe(4403);
      own?.say({ type: "ping" });
      const [after, expected] =
        path === "revoke-all" ? [await own?.closed, { code: 4403 }] : [await own?.hear(), { type: "pong" }];
      expect(after).toMatchObject(expected);
      foreign?.say({ type: "ping" });
      expect((await foreign?.hear())?.type).toBe("pong");
    },
  );

  it("[SUB-17] [graphql:I20] [auth:AU-169] is noticed within 60 s if the bus lost the event, without keeping an idle session alive", async () => {
    const log = logCatcher();
    const clock = manualClock(START);
    const stores = memoryStores();
    const away = Object.assign(Object.create(stores.bus) as Stores["bus"], {
      publish: () => Promise.reject(new Error("the bus is away")),
      subscribe: stores.bus.subscribe.bind(stores.bus),
    });
    const { client } = await start({ clock, stores: { ...stores, bus: away }, app: { logger: log } });
    const revoked = await cookie(client);
    const idle = await cookie(client, "idle");
    const socket = await rawSocket(client, { headers: { cookie: revoked }, init: true });
    const watching = await rawSocket(client, { headers: { cookie: idle }, init: true });

    expect((await client.post("/logout", { headers: { cookie: revoked } })).status).toBe(204);
    expect(log.text).toContain("failed to publish a session revocation");
    clock.advance(59_000);
    await sleep(400);
    socket.say({ type: "ping" });
    expect((await socket.hear()).type).toBe("pong");
    clock.advance(1_000);
    expect(await socket.closed).toEqual({ code: 4403, reason: "the credential was revoked" });

    // Two hours of looking do not count as a use of the session.
    for (let minute = 0; minute < 120; minute += 20) {
      clock.advance(20 * 60_000);
      await sleep(300);
    }
    expect((await watching.closed).code).toBe(4403);
  });

  it.each(["at the upgrade", "as a stream over HTTP"])(
    "[SUB-12] closes a connection that is being opened while its session is revoked (%s)",
    async (how) => {
      const opening = Promise.withResolvers<void>();
      const opened = Promise.withResolvers<void>();
      const { client } = await start({
        middleware: [
          async (ctx, next) => {
            if (ctx.request.headers["x-slow"] !== undefined) {
              opening.resolve();
              await opened.promise;
            }
            await next();
          },
        ],
      });
      // The bus is listened to already: a first socket would be looked up anyway.
      const [mine, other] = [await cookie(client), await cookie(client)];
      const kept = await rawSocket(client, { headers: { cookie: other }, init: true });
      await sleep(300);

      const headers = { cookie: mine, "x-slow": "1" };
      const stream = client.subscribe("subscription { waits }", {}, { headers })[Symbol.asyncIterator]();
      const first = how === "at the upgrade" ? rawSocket(client, { headers }) : stream.next();
      await opening.promise;
      await client.post("/logout", { headers: { cookie: mine } });
      opened.resolve();
      await first;

      const ended = how === "at the upgrade" ? ((await first) as TestSocket).closed : stream.next();
      await ended;
      kept.say({ type: "ping" });
      expect((await kept.hear()).type).toBe("pong");
    },
  );

  it("closes the socket of a plain route, too", async () => {
    const app = (it: PorticoApp) =>
      it.socket("/plain", { auth: useAuth() }, async ({ socket }) => {
        for await (const message of socket) socket.send(message);
      });
    const { client } = await start({ declare: app });
    const mine = await cookie(client);
    const socket = await client.socket("/plain", { headers: { cookie: mine } });

    await client.post("/logout", { headers: { cookie: mine } });

    expect((await socket.closed).code).toBe(4403);
  });

  it("does not close open connections during an outage of the store", async () => {
    const clock = manualClock(START);
    const log = logCatcher();
    const stores = memoryStores();
    let isAway = false;
    const durable = new Proxy(stores.durable, {
      get(target, key) {
        if (isAway) throw new HttpException(503, "the store is away");
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const { client } = await start({ clock, stores: { ...stores, durable }, app: { logger: log } });
    const socket = await rawSocket(client, { headers: { cookie: await cookie(client) }, init: true });
    isAway = true;
    clock.advance(61_000);
    await expect.poll(() => log.text).toContain("failed to recheck a credential");

    socket.say({ type: "ping" });

    expect((await socket.hear()).type).toBe("pong");
    isAway = false;
  });
});
