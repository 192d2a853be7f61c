import { setTimeout as sleep } from "node:timers/promises";
import { Depend, topic, WebSocketContext } from "portico";
import { field, mutation, type ObjectType, object, schema, subscription, t } from "portico/graphql";
import { logCatcher, manualClock } from "portico/testing";
import { describe, expect, it, vi } from "vitest";
import { collect, openGraph, rawSocket, wsClient } from "./open.ts";
import { until } from "./until.ts";

const tick = topic<number>("test.tick");
const query = { hello: field(t.string)(() => "world") };
const ticks = subscription(t.int, { params: { to: t.int(3) } })(async function* ({ to }) {
  for (let n = 1; n <= to; n++) yield n;
});

function live(events: string[] = []) {
  return subscription(t.int)(async function* ({ ctx }) {
    events.push("start");
    try {
      yield* ctx.pubsub.subscribe(tick);
    } finally {
      events.push("end");
    }
  });
}

describe("the socket", () => {
  it("[SUB-01] [SUB-02] [SUB-03] [EVT-23] streams one value per yielded item, in order, then completes", async () => {
    const { url } = await openGraph(schema({ query, subscription: { ticks } }));
    const other = await openGraph(schema({ query, subscription: { ticks } }), { path: "/api/graph" });

    expect(await collect(wsClient(url), "subscription { ticks }")).toEqual([{ ticks: 1 }, { ticks: 2 }, { ticks: 3 }]);
    expect(await collect(wsClient(other.url), "subscription ($n: Int!) { ticks(to: $n) }", { n: 1 })).toEqual([
      { ticks: 1 },
    ]);
  });

  it("[RES-03] [RES-23] passes a WebSocketContext, under any name, to subscriptions and to queries over the socket", async () => {
    const built = schema({
      query: {
        agent: field(t.string, { params: { anything: WebSocketContext } })(
          ({ anything }) => anything.request.headers["user-agent"] ?? "none",
        ),
      },
      subscription: {
        agents: subscription(t.string, { params: { ws: WebSocketContext } })(async function* ({ ws }) {
          yield `${ws.socket.protocol} ${ws.request.headers["user-agent"]}`;
        }),
      },
    });
    const { url } = await openGraph(built, { subscriptions: { operations: true } });
    const client = wsClient(url, { headers: { "user-agent": "tester" } });

    expect(await collect(client, "subscription { agents }")).toEqual([{ agents: "graphql-transport-ws tester" }]);
    expect(await collect(client, "{ agent }")).toEqual([{ agent: "tester" }]);
  });

  it("[DEP-12] gives each operation and each event its own values", async () => {
    const make = vi.fn<() => number>(() => 1);
    const Event: ObjectType<{ readonly n: number }> = object("Event", {
      n: field(t.int, { params: { one: Depend(make) } })(({ parent, one }) => parent.n * one),
      again: field(t.int, { params: { one: Depend(make) } })(({ parent, one }) => parent.n * one),
    });
    const built = schema({
      query: { one: field(t.int, { params: { one: Depend(make) } })(({ one }) => one) },
      subscription: {
        events: subscription(Event)(async function* () {
          yield { n: 1 };
          yield { n: 2 };
        }),
      },
    });
    const { url, client: http } = await openGraph(built, { subscriptions: { operations: true } });
    const client = wsClient(url);

    await collect(client, "subscription { events { n again } }");
    expect(make).toHaveBeenCalledTimes(2);
    await Promise.all([collect(client, "{ one }"), collect(client, "{ a: one b: one }")]);
    expect(make).toHaveBeenCalledTimes(4);
    await http.post("/graphql", { body: [{ query: "{ one }" }, { query: "{ one }" }] });
    expect(make).toHaveBeenCalledTimes(6);
  });

  it("[graphql:I10] rejects queries and mutations unless they are enabled, and runs nothing", async () => {
    const ran = vi.fn<() => number>(() => 1);
    const built = schema({ query, mutation: { act: mutation(t.int)(() => ran()) }, subscription: { ticks } });
    const { client } = await openGraph(built);
    const socket = await rawSocket(client, { init: true });

    socket.say({ type: "subscribe", id: "a", payload: { query: "mutation { act }" } });
    expect(await socket.hear()).toMatchObject({
      id: "a",
      type: "error",
      payload: [{ extensions: { code: "OPERATION_NEEDS_HTTP", correlationId: expect.any(String) } }],
    });
    socket.say({ type: "subscribe", id: "b", payload: { query: "{ hello }" } });
    expect(await socket.hear()).toMatchObject({ id: "b", type: "error" });
    expect(ran).not.toHaveBeenCalled();

    const open = await openGraph(built, { subscriptions: { operations: true } });
    expect(await collect(wsClient(open.url), "mutation { act }")).toEqual([{ act: 1 }]);
  });

  it("[graphql:I17] reports a failing generator, masked, and continues: with null data, and with one that returns immediately", async () => {
    const log = logCatcher();
    const built = schema({
      query,
      subscription: {
        fails: subscription(t.int)(async function* () {
          yield 1;
          throw new Error("the password is tulip");
        }),
        nothing: subscription(t.nullable(t.int))(async function* () {
          yield undefined;
        }),
        ends: subscription(t.int)(async function* () {}),
      },
    });
    const { client } = await openGraph(built, { app: { logger: log } });
    const socket = await rawSocket(client, { init: true });

    socket.say({ type: "subscribe", id: "1", payload: { query: "subscription { fails }" } });
    expect(await socket.hear()).toMatchObject({ id: "1", type: "next", payload: { data: { fails: 1 } } });
    const failed = await socket.hear();
    expect(failed).toMatchObject({
      id: "1",
      type: "error",
      payload: [{ message: "Unexpected error", extensions: { code: "INTERNAL_SERVER_ERROR" } }],
    });
    const id = failed.payload[0].extensions.correlationId as string;
    expect(log.lines.filter((line) => line["correlation_id"] === id)).toHaveLength(1);

    socket.say({ type: "subscribe", id: "2", payload: { query: "subscription { nothing }" } });
    expect(await socket.hear()).toMatchObject({ id: "2", type: "next", payload: { data: { nothing: null } } });
    expect(await socket.hear()).toEqual({ id: "2", type: "complete" });
    socket.say({ type: "subscribe", id: "3", payload: { query: "subscription { ends }" } });
    expect(await socket.hear()).toEqual({ id: "3", type: "complete" });
  });

  it("[graphql:I11] ends the generator once when the client completes while it waits, and sends nothing more", async () => {
    const events: string[] = [];
    const { client, app } = await openGraph(schema({ query, subscription: { live: live(events) } }), {
      declare: (it) => it.post("/tick", ({ ctx }) => ctx.pubsub.publish(tick, 1)),
    });
    void app;
    const socket = await rawSocket(client, { init: true });
    socket.say({ type: "subscribe", id: "1", payload: { query: "subscription { live }" } });
    await until(() => events.length === 1);

    socket.say({ type: "complete", id: "1" });
    await until(() => events.length === 2);
    await client.post("/tick");
    socket.say({ type: "ping", payload: { still: "here" } });

    expect(await socket.hear()).toEqual({ type: "pong", payload: { still: "here" } });
    expect(events).toEqual(["start", "end"]);
  });

  it("ends the generator on every way a socket can end", async () => {
    const events: string[] = [];
    const { client } = await openGraph(schema({ query, subscription: { live: live(events) } }));
    const ways: readonly ((socket: Awaited<ReturnType<typeof rawSocket>>) => void)[] = [
      (socket) => socket.close(),
      (socket) => socket.terminate(),
      (socket) => socket.send("this is no message"),
      (socket) => socket.say({ type: "connection_init" }),
    ];
    for (const [index, way] of ways.entries()) {
      const socket = await rawSocket(client, { init: true });
      socket.say({ type: "subscribe", id: "1", payload: { query: "subscription { live }" } });
      await until(() => events.length === 2 * index + 1);

      way(socket);

      await until(() => events.length === 2 * index + 2);
    }
    expect(events.filter((event) => event === "end")).toHaveLength(4);
  });

  it("[SUB-06] [graphql:I7] runs 100 subscriptions: the next is rejected, the others continue", async () => {
    const { client } = await openGraph(schema({ query, subscription: { live: live() } }), {
      declare: (it) => it.post("/tick", ({ ctx }) => ctx.pubsub.publish(tick, 7)),
    });
    const socket = await rawSocket(client, { init: true });

    for (let n = 1; n <= 101; n++)
      socket.say({ type: "subscribe", id: String(n), payload: { query: "subscription { live }" } });
    expect(await socket.hear()).toMatchObject({
      id: "101",
      type: "error",
      payload: [{ extensions: { code: "TOO_MANY_SUBSCRIPTIONS" } }],
    });
    await client.post("/tick");

    const heard = new Set<string | undefined>();
    for (let n = 0; n < 100; n++) heard.add((await socket.hear()).id);
    expect(heard.size).toBe(100);
  });

  it("[SUB-07] [graphql:I8] closes on a frame larger than maxBody, and runs nothing", async () => {
    const events: string[] = [];
    const { client } = await openGraph(schema({ query, subscription: { live: live(events) } }), {
      transport: { maxBody: "1kb" },
    });
    const frame = (bytes: number): string => {
      const message = { type: "subscribe", id: "1", payload: { query: "subscription { live }" } };
      const text = JSON.stringify(message);
      return text.padEnd(bytes, " ");
    };

    const fits = await rawSocket(client, { init: true });
    fits.send(frame(1024));
    await until(() => events.length === 1);
    const tooLarge = await rawSocket(client, { init: true });
    tooLarge.send(frame(1025));

    expect((await tooLarge.closed).code).toBe(1009);
    expect(events).toEqual(["start"]);
  });

  it("[SUB-04] [graphql:I12] pings every 12 s, and disconnects a client that does not respond to the second ping", async () => {
    const clock = manualClock(1_000_000);
    const events: string[] = [];
    const { client } = await openGraph(schema({ query, subscription: { live: live(events) } }), { app: { clock } });
    const { WebSocket } = await import("ws");
    const silent = new WebSocket(`ws://127.0.0.1:${client.port}/graphql`, ["graphql-transport-ws"], {
      autoPong: false,
    });
    let pings = 0;
    silent.on("ping", () => pings++);
    await new Promise((resolve) => silent.once("open", resolve));
    silent.send(JSON.stringify({ type: "connection_init" }));
    await new Promise((resolve) => silent.once("message", resolve));
    silent.send(JSON.stringify({ type: "subscribe", id: "1", payload: { query: "subscription { live }" } }));
    await until(() => events.length === 1);

    clock.advance(11_900);
    await sleep(400);
    expect(pings).toBe(0);
    clock.advance(100);
    await until(() => pings === 1);
    clock.advance(12_000);

    await until(() => events.length === 2);
    expect(events).toEqual(["start", "end"]);
  });
});
