import { Depend, topic } from "portico";
import { field, schema, subscription, t } from "portico/graphql";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { usedBytes } from "../corpus/harness.ts";
import { openGraph, rawSocket } from "./open.ts";
import { until } from "./until.ts";

const tick = topic<number>("hostile.tick");
let running = 0;
let opened = 0;
const open = (): number => ++opened;
const built = schema({
  query: { hello: field(t.string)(() => "world") },
  subscription: {
    live: subscription(t.int, { params: { from: t.int(0), opened: Depend(open) } })(async function* ({ ctx }) {
      running++;
      try {
        yield* ctx.pubsub.subscribe(tick);
      } finally {
        running--;
      }
    }),
  },
});
const subscribe = (id: string, payload: object) => ({ type: "subscribe", id, payload });

describe("a hostile client", () => {
  it("receives a pong without its payload if that is large, however deeply nested, and the process survives", async () => {
    const { client } = await openGraph(built);
    const socket = await rawSocket(client, { init: true });
    const deep = `{"a":`.repeat(20_000) + "1" + "}".repeat(20_000);

    socket.say({ type: "ping", payload: { short: "word" } });
    const small = await socket.hear();
    socket.send(`{"type":"ping","payload":${deep}}`);
    const large = await socket.hear();

    expect(small).toEqual({ type: "pong", payload: { short: "word" } });
    expect(large).toEqual({ type: "pong" });
    expect((await client.post("/graphql", { body: { query: "{ hello }" } })).status).toBe(200);
  });

  it("cannot make the server keep variables that its operation does not declare", async () => {
    const { client } = await openGraph(built);
    const socket = await rawSocket(client, { init: true });
    const undeclared = Array.from({ length: 27_000 }, () => ({}));
    const before = usedBytes();

    for (let n = 0; n < 25; n++)
      socket.say(
        subscribe(String(n), {
          query: "subscription ($from: Int) { live(from: $from) }",
          variables: { from: n, undeclared },
        }),
      );
    await until(() => running === 25);

    expect((usedBytes() - before) / 1e6).toBeLessThan(15);
    socket.terminate();
    await until(() => running === 0);
  });

  it("has a limit for the total length of operations on one socket, which is free again when some have ended", async () => {
    const { client } = await openGraph(built);
    const socket = await rawSocket(client, { init: true });
    const operation = { query: "subscription { live }", extensions: { padding: " ".repeat(900_000) } };

    for (const id of ["1", "2", "3"]) socket.say(subscribe(id, operation));
    const refused = await socket.hear();
    socket.say({ type: "complete", id: "1" });
    socket.say(subscribe("4", operation));
    await until(() => running === 2);

    expect(refused).toMatchObject({
      type: "error",
      id: "3",
      payload: [
        {
          message: "The operations of a WebSocket may have at most 2097152 characters in total",
          extensions: { code: "TOO_MANY_SUBSCRIPTIONS" },
        },
      ],
    });
    socket.terminate();
    await until(() => running === 0);
  });

  it("has one limit per minute for opening sockets and streams of events", async () => {
    const before = opened;
    const { client } = await openGraph(built, { subscriptions: { connectsPerMinute: 3 } });
    const listen = async (): Promise<number> => {
      const answer = await fetch(`http://127.0.0.1:${client.port}/graphql`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/event-stream" },
        body: JSON.stringify({ query: "subscription { live }" }),
      });
      onTestFinished(() => answer.body?.cancel());
      return answer.status;
    };
    await rawSocket(client, { init: true });

    expect([await listen(), await listen(), await listen()]).toEqual([200, 200, 429]);
    await until(() => running === 2);
    // The third was refused before anything was opened for it.
    expect(opened - before).toBe(2);
    // A query that takes a stream is no listener.
    expect((await client.post("/graphql", { body: { query: "{ hello }" } })).status).toBe(200);
  });

  it("is disconnected for unsolicited pongs", async () => {
    const { url } = await openGraph(built);
    const socket = new WebSocket(url.replace("http", "ws"), "graphql-transport-ws");
    onTestFinished(() => socket.terminate());
    const { promise, resolve } = Promise.withResolvers<number>();
    socket.on("close", resolve).on("open", () => {
      for (let n = 0; n < 1_000; n++) socket.pong();
    });

    expect(await promise).toBe(1008);
  });
});
