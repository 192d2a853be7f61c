import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { topic } from "portico";
import { field, type ObjectType, object, schema, subscription, t } from "portico/graphql";
import { type LiveClient, logCatcher } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { WebSocket } from "ws";
import { passTime } from "../../pass-time.ts";
import { openGraph, rawSocket } from "./open.ts";
import { until } from "./until.ts";

const tick = topic<number>("test.tick");
const Node: ObjectType<{ readonly id: string }> = object("Node", {
  id: t.id,
  next: field(() => Node)(() => ({ id: "n" })),
});
let started = 0;
const built = schema({
  query: { node: field(Node)(() => ({ id: "n" })) },
  subscription: {
    live: subscription(t.int)(async function* ({ ctx }) {
      started++;
      yield* ctx.pubsub.subscribe(tick);
    }),
    nodes: subscription(Node)(async function* () {
      started++;
      yield { id: "n" };
    }),
    one: subscription(t.int)(async function* () {
      yield 1;
    }),
  },
});
const subscribe = (id: string, query = "subscription { live }") => ({ type: "subscribe", id, payload: { query } });

it.each([
  "subscription { one @skip(if: true) }",
  "subscription { one @include(if: false) }",
  "subscription { ... @skip(if: true) { one } }",
  "subscription { ...F @skip(if: true) } fragment F on Subscription { one }",
  "subscription { ...F } fragment F on Subscription { one @skip(if: true) }",
  "subscription ($no: Boolean = false) { one @include(if: $no) }",
  "subscription ($no: Boolean!) { one @include(if: $no) }",
])("rejects %j, because a condition may leave no field", async (query) => {
  const log = logCatcher();
  const { client } = await openGraph(built, { app: { logger: log } });
  const socket = await rawSocket(client, { init: true });

  socket.say(subscribe("1", query));

  expect(await socket.hear()).toMatchObject({
    type: "error",
    payload: [{ extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }],
  });
  expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
});

describe("the protocol", () => {
  it("[graphql:I1] closes 4406 without its subprotocol and with the legacy one, and prefers its own", async () => {
    const { client } = await openGraph(built);

    const none = await client.socket("/graphql");
    const legacy = await client.socket("/graphql", { protocols: ["graphql-ws"] });
    const both = await client.socket("/graphql", { protocols: ["graphql-ws", "graphql-transport-ws"] });
    onTestFinished(() => both.terminate());

    expect((await none.closed).code).toBe(4406);
    expect((await legacy.closed).code).toBe(4406);
    expect(both.protocol).toBe("graphql-transport-ws");
  });

  it("[SUB-05] [graphql:I2] closes 4408 when connection_init does not come within 3 s", async () => {
    const { client } = await openGraph(built);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const codes: number[] = [];

    const silent = await rawSocket(client);
    void silent.closed.then(({ code }) => codes.push(code));
    const initialised = await rawSocket(client, { init: true });
    await passTime(2_999);
    initialised.say({ type: "ping" });
    expect((await initialised.hear()).type).toBe("pong");
    expect(codes).toEqual([]);
    await passTime(1);

    expect((await silent.closed).code).toBe(4408);
    initialised.say({ type: "ping" });
    expect((await initialised.hear()).type).toBe("pong");
  });

  it("[graphql:I3] closes 4401 on an operation before connection_init, and runs nothing", async () => {
    const { client } = await openGraph(built);
    const before = started;
    const socket = await rawSocket(client);

    socket.say(subscribe("1"));

    expect((await socket.closed).code).toBe(4401);
    expect(started).toBe(before);
  });

  it("[graphql:I4] [graphql:I5] closes 4429 on a second connection_init, 4409 on an id that is taken", async () => {
    const { client } = await openGraph(built);
    const [twice, taken] = [await rawSocket(client, { init: true }), await rawSocket(client, { init: true })];

    twice.say({ type: "connection_init" });
    taken.say(subscribe("1"));
    taken.say(subscribe("1"));

    expect((await twice.closed).code).toBe(4429);
    expect((await taken.closed).code).toBe(4409);
  });

  it.each([
    ["no JSON", "{"],
    ["bytes", new TextEncoder().encode('{"type":"ping"}')],
    ["an empty object", "{}"],
    ["a list", "[]"],
    ["an unknown type", '{"type":"start","id":"1"}'],
    ["what a server says", '{"type":"next","id":"1","payload":{}}'],
    ["an empty id", '{"type":"subscribe","id":"","payload":{"query":"subscription { live }"}}'],
    ["an id that is no text", '{"type":"subscribe","id":1,"payload":{"query":"subscription { live }"}}'],
    ["no payload", '{"type":"subscribe","id":"1"}'],
  ])("[graphql:I6] closes 4400 on %s", async (_name, message) => {
    const { client } = await openGraph(built);
    const socket = await rawSocket(client, { init: true });

    socket.send(message);

    expect((await socket.closed).code).toBe(4400);
  });

  it("[graphql:I6] accepts __proto__ as an id like any other", async () => {
    const { client } = await openGraph(built);
    const socket = await rawSocket(client, { init: true });

    socket.send('{"type":"subscribe","id":"__proto__","payload":{"query":"subscription { one }"}}');

    expect(await socket.hear()).toMatchObject({ id: "__proto__", type: "next", payload: { data: { one: 1 } } });
    expect(await socket.hear()).toEqual({ id: "__proto__", type: "complete" });
  });

  it("[LIM-15] [graphql:I9] rejects an operation over a limit with the same code over HTTP, as a stream and over the socket", async () => {
    const { client } = await openGraph(built, { limits: { depth: 3, aliases: 2, cost: 5 } });
    const socket = await rawSocket(client, { init: true });
    const before = started;
    const bombs = {
      DEPTH_LIMIT_EXCEEDED: "nodes { next { next { id } } }",
      ALIAS_LIMIT_EXCEEDED: "nodes { a: id b: id c: id }",
      COST_LIMIT_EXCEEDED: "nodes { id id id id id }",
    };

    for (const [code, selection] of Object.entries(bombs)) {
      const wrong = [{ extensions: { code } }];
      socket.say(subscribe(code, `subscription { ${selection} }`));
      expect(await socket.hear()).toMatchObject({ id: code, type: "error", payload: wrong });
      const stream = await client.post("/graphql", {
        headers: { accept: "text/event-stream" },
        body: { query: `subscription { ${selection} }` },
      });
      expect([stream.status, stream.json()]).toMatchObject([400, { errors: wrong }]);
      const http = await client.post("/graphql", { body: { query: `{ ${selection.replace("nodes", "node")} }` } });
      expect([http.status, http.json()]).toMatchObject([400, { errors: wrong }]);
    }
    expect(started).toBe(before);
  });

  it("[graphql:F5] treats introspection and suggestions over the socket and in a batch as over HTTP", async () => {
    const { client } = await openGraph(built, { introspection: false, subscriptions: { operations: true } });
    const socket = await rawSocket(client, { init: true });

    for (const query of ["{ __schema { types { name } } }", "{ nod { id } }"]) {
      const http = (await client.post("/graphql", { body: { query } })).json() as {
        errors: { message: string; extensions: { code: string } }[];
      };
      const batch = (await client.post("/graphql", { body: [{ query }] })).json() as (typeof http)[];
      socket.say(subscribe(query, query));
      const { type, payload } = await socket.hear();
      const said = ({ message, extensions }: (typeof http)["errors"][number]) => [message, extensions.code];
      expect(type).toBe("error");
      expect((payload as (typeof http)["errors"]).map(said)).toEqual(http.errors.map(said));
      expect(batch[0]?.errors.map(said)).toEqual(http.errors.map(said));
    }
  });

  it("[graphql:I14] closes 1008 on a flood of pings, of either kind, and others are unaffected", async () => {
    // One of the sockets never sends its connection_init, for which a busy machine takes long.
    const { client } = await openGraph(built, { subscriptions: { initSeconds: 100 } });
    const other = await rawSocket(client, { init: true });
    const frames = new WebSocket(`ws://127.0.0.1:${client.port}/graphql`, ["graphql-transport-ws"]);
    await new Promise((resolve) => frames.once("open", resolve));
    const messages = await rawSocket(client, { init: true });

    for (let n = 0; n < 2_000; n++) {
      frames.ping();
      messages.say({ type: "ping" });
    }

    expect(await new Promise((resolve) => frames.once("close", resolve))).toBe(1008);
    expect((await messages.closed).code).toBe(1008);
    other.say({ type: "ping" });
    expect((await other.hear()).type).toBe("pong");
  });

  it("[graphql:I15] closes 1002 on a frame with reserved bits, and goes on", async () => {
    const { client } = await openGraph(built);
    const connection = connect(client.port, "127.0.0.1");
    onTestFinished(() => void connection.destroy());
    const received: Buffer[] = [];
    connection.on("data", (chunk: Buffer) => void received.push(chunk));
    connection.write(
      "GET /graphql HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" +
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n",
    );
    await until(() => Buffer.concat(received).includes("\r\n\r\n"));
    received.length = 0;

    // FIN and all reserved bits, opcode 1, masked, empty.
    connection.write(Buffer.from([0xf1, 0x80, 0, 0, 0, 0]));

    await until(() => received.length > 0);
    const frame = Buffer.concat(received);
    expect([frame[0], frame.readUInt16BE(2)]).toEqual([0x88, 1002]);
    expect((await rawSocket(client, { init: true })).protocol).toBe("graphql-transport-ws");
  });
});

/** A client that asks, and reads nothing of what comes. */
async function deaf({ port }: LiveClient, query: string): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, ["graphql-transport-ws"]);
  onTestFinished(() => socket.terminate());
  await new Promise((resolve) => socket.once("open", resolve));
  socket.send(JSON.stringify({ type: "connection_init" }));
  await new Promise((resolve) => socket.once("message", resolve));
  socket.pause();
  socket.send(JSON.stringify(subscribe("1", query)));
  return socket;
}

/** A count, once it does not change any more. */
async function atRest(count: () => number): Promise<number> {
  for (let before = count(); ; before = count()) {
    await sleep(150);
    if (count() === before) return before;
  }
}

describe("a slow reader", () => {
  const big = "x".repeat(16 * 1024);
  let made = 0;
  let isOver = false;
  const fast = schema({
    query: { a: field(t.int)(() => 1) },
    subscription: {
      fast: subscription(t.string)(async function* () {
        try {
          for (;;) {
            made++;
            yield big;
          }
        } finally {
          isOver = true;
        }
      }),
    },
  });

  it("continues when it reads, also if its limit is smaller than the buffer of the connection", async () => {
    let small = 0;
    const { client } = await openGraph(
      schema({
        query: { a: field(t.int)(() => 1) },
        subscription: {
          small: subscription(t.string)(async function* () {
            for (;;) {
              small++;
              yield "x".repeat(8 * 1024);
            }
          }),
        },
      }),
      { subscriptions: { pauseAbove: "1kb" } },
    );
    const socket = await deaf(client, "subscription { small }");
    await until(() => small > 4);
    const before = await atRest(() => small);

    socket.resume();

    await expect.poll(() => small).toBeGreaterThan(before + 100);
  });

  it("[graphql:I13] pauses the generator, continues when it reads, and is disconnected when it never does", async () => {
    const { manualClock } = await import("portico/testing");
    const clock = manualClock(0);
    made = 0;
    isOver = false;
    const { client } = await openGraph(fast, { app: { clock }, subscriptions: { pauseAbove: "64kb" } });
    const socket = await deaf(client, "subscription { fast }");

    // As much as fits into the buffers of the system and ours, and no more.
    await until(() => made > 4);
    const paused = await atRest(() => made);
    expect(paused * big.length).toBeLessThan(16 * 1024 ** 2);
    socket.resume();
    await until(() => made > paused + 100);
    socket.pause();
    await atRest(() => made);

    clock.advance(31_000);

    await until(() => isOver);
  });
});
