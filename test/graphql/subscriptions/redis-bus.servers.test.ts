import { PubSubGap, topic } from "portico";
import { AuthenticationMiddleware, SessionAuthBackend, SessionMiddleware, SimpleUser } from "portico/auth";
import { field, mutation, schema, subscription, t } from "portico/graphql";
import { redisStores } from "portico/redis";
import { describe, expect, it, onTestFinished } from "vitest";
import { RedisServer } from "../../../lab/servers/redis-server.ts";
import { signIn } from "../../sign-in.ts";
import { type Opened, openGraph, rawSocket } from "./open.ts";
import { until } from "./until.ts";

const tick = topic<number>("test.tick");
const listening: string[] = [];
const built = schema({
  query: { a: field(t.int)(() => 1) },
  mutation: {
    tick: mutation(t.int, { params: { n: t.int } })(async ({ n, ctx }) => {
      await ctx.pubsub.publish(tick, n);
      return n;
    }),
  },
  subscription: {
    live: subscription(t.int)(async function* ({ ctx }) {
      const events = ctx.pubsub.subscribe(tick)[Symbol.asyncIterator]();
      await ctx.pubsub.settled();
      listening.push("live");
      yield* { [Symbol.asyncIterator]: () => events };
    }),
    patient: subscription(t.int)(async function* ({ ctx }) {
      for (;;) {
        try {
          listening.push("patient");
          yield* ctx.pubsub.subscribe(tick);
          return;
        } catch (error) {
          if (!(error instanceof PubSubGap)) throw error;
          yield -1;
        }
      }
    }),
  },
});

interface Redis {
  readonly bus: RedisServer;
  readonly start: () => Promise<Opened>;
}

/** Sessions on one Redis, events on another, which the test may cut. */
async function redis(): Promise<Redis> {
  const [durable, bus] = [await RedisServer.start(), await RedisServer.start()];
  onTestFinished(async () => {
    await Promise.all([durable.remove(), bus.remove()]);
  });
  listening.length = 0;
  const start = (): Promise<Opened> =>
    openGraph(built, {
      app: {
        stores: redisStores({ durable: durable.url, counters: durable.url, bus: bus.url }),
        // Without the bus, nothing is noticed during a test.
        timeouts: { recheckSeconds: 1_000_000 },
      },
      declare(app) {
        app.use(new SessionMiddleware({ secret: "a secret for cookies, which is long enough" }));
        app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new SessionAuthBackend() }));
        app.post("/login", ({ request: { sessions } }) => sessions.login(new SimpleUser("ann")));
        app.post("/logout", ({ request: { sessions } }) => sessions.logout());
      },
    });
  return { bus, start };
}

describe("with a bus on Redis", () => {
  it("[SUB-12] [auth:AU-169] a session that is revoked in one process closes its sockets in another at once", async () => {
    const { start } = await redis();
    const [here, there] = [await start(), await start()];
    const { cookie } = await signIn(here.client);
    const socket = await rawSocket(there.client, { headers: { cookie }, init: true });
    // Redis knows of the listener a moment after the first socket is open.
    await there.app.stores.bus.settled();

    await here.client.post("/logout", { headers: { cookie } });

    expect((await socket.closed).code).toBe(4403);
  });

  it("[SUB-17] [graphql:I20] [auth:AU-169] one that is revoked while the bus is cut closes them when it is back", async () => {
    const { bus, start } = await redis();
    const [here, there] = [await start(), await start()];
    const { cookie } = await signIn(here.client);
    const socket = await rawSocket(there.client, { headers: { cookie }, init: true });
    await there.app.stores.bus.settled();
    await bus.kill();

    expect((await here.client.post("/logout", { headers: { cookie } })).status).toBe(204);
    socket.say({ type: "ping" });
    expect((await socket.hear()).type).toBe("pong");
    await bus.start();

    expect((await socket.closed).code).toBe(4403);
  });

  it("[SUB-18] [graphql:I21] a subscription ends when the bus was cut, unless its author handles the gap, and new events flow", async () => {
    const { bus, start } = await redis();
    const [here, there] = [await start(), await start()];
    const socket = await rawSocket(there.client, { init: true });
    socket.say({ type: "subscribe", id: "live", payload: { query: "subscription { live }" } });
    socket.say({ type: "subscribe", id: "patient", payload: { query: "subscription { patient }" } });
    await until(() => listening.length === 2);
    await there.app.stores.bus.settled();
    await here.client.post("/graphql", { body: { query: "mutation { tick(n: 1) }" } });
    expect(new Set([(await socket.hear()).id, (await socket.hear()).id])).toEqual(new Set(["live", "patient"]));

    await bus.kill();
    await bus.start();

    const heard = [await socket.hear(), await socket.hear()].toSorted((a, b) => (a.id ?? "").localeCompare(b.id ?? ""));
    expect(heard).toMatchObject([
      { id: "live", type: "error", payload: [{ extensions: { code: "PUBSUB_GAP" } }] },
      { id: "patient", type: "next", payload: { data: { patient: -1 } } },
    ]);
    await there.app.stores.bus.settled();
    // The publishing process connects again by itself.
    await expect
      .poll(async () => (await here.client.post("/graphql", { body: { query: "mutation { tick(n: 5) }" } })).text())
      .toContain('"tick":5');
    expect(await socket.hear()).toMatchObject({ id: "patient", type: "next", payload: { data: { patient: 5 } } });
  });
});
