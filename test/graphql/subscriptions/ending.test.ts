import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "graphql-ws";
import { Depend, type PorticoApp, topic } from "portico";
import { field, type ObjectType, object, schema, subscription, t } from "portico/graphql";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { WebSocket } from "ws";
import { openGraph, rawSocket } from "./open.ts";
import { until } from "./until.ts";

const tick = topic<number>("test.tick");

function watched() {
  const open = { generators: 0, dependencies: 0 };
  const pool = async function* (): AsyncGenerator<number, void, void> {
    open.dependencies++;
    try {
      yield 1;
    } finally {
      open.dependencies--;
    }
  };
  const live = subscription(t.int, { params: { pool: Depend(pool) } })(async function* ({ ctx, pool: one }) {
    open.generators++;
    try {
      for await (const n of ctx.pubsub.subscribe(tick)) yield n * one;
    } finally {
      open.generators--;
    }
  });
  return { open, built: schema({ query: { a: field(t.int)(() => 1) }, subscription: { live } }) };
}

describe("the end", () => {
  it("of the process closes sockets with 1001, spread over time, and accepts no new operation", async () => {
    const { open, built } = watched();
    const { client, app } = await openGraph(built, {
      app: { shutdown: { socketSeconds: 1_000, deadlineSeconds: 3_600, delaySeconds: 0, signals: [] } },
    });
    const sockets = await Promise.all(Array.from({ length: 12 }, () => rawSocket(client, { init: true })));
    const [busy] = sockets;
    for (const socket of sockets.slice(1))
      socket.say({ type: "subscribe", id: "1", payload: { query: "subscription { live }" } });
    await until(() => open.generators === 11);

    // Every other socket is closed at once, the others after some minutes.
    let drawn = 0;
    const random = vi.spyOn(Math, "random").mockImplementation(() => (drawn++ % 2 === 0 ? 0.9 : 0));
    onTestFinished(() => random.mockRestore());
    const codes: number[] = [];
    for (const { closed } of sockets) void closed.then(({ code }) => codes.push(code));
    const draining = app.drain();
    await until(() => codes.length === 6);
    busy?.say({ type: "subscribe", id: "1", payload: { query: "subscription { live }" } });
    await busy?.closed;

    expect(codes).toEqual(Array.from({ length: 7 }, () => 1001));
    expect(open.generators).toBe(5);
    for (const socket of sockets) socket.close();
    await draining;
    expect(open).toEqual({ generators: 0, dependencies: 0 });
  });

  it("of a process makes clients reconnect and subscribe again", async () => {
    const { open, built } = watched();
    const declare = (app: PorticoApp) => app.post("/tick", ({ ctx }) => ctx.pubsub.publish(tick, 9));
    const [first, second] = [await openGraph(built), await openGraph(built, { declare })];
    let url = first.url;
    const client = createClient({
      url: () => url,
      webSocketImpl: WebSocket,
      retryAttempts: 3,
      retryWait: () => sleep(20),
    });
    onTestFinished(() => client.dispose());
    const values: unknown[] = [];
    client.subscribe<{ readonly live: number }>(
      { query: "subscription { live }" },
      { next: ({ data }) => void values.push(data), error: () => {}, complete: () => void values.push("complete") },
    );
    await until(() => open.generators === 1);
    url = second.url;

    await first.app.close();
    expect(open.generators).toBe(0);
    await until(() => open.generators === 1);
    await second.client.post("/tick");

    await until(() => values.length > 0);
    expect(values).toEqual([{ live: 9 }]);
  });

  it("of the time limit cancels an event and a query that hang, and closes what they opened", async () => {
    let isOver = false;
    const Slow: ObjectType<object> = object("Slow", {
      n: field(t.int)(({ ctx }) => new Promise<number>((_, reject) => ctx.signal.addEventListener("abort", reject))),
    });
    const built = schema({
      query: { slow: field(Slow)(() => ({})) },
      subscription: {
        slow: subscription(Slow)(async function* () {
          try {
            for (;;) yield {};
          } finally {
            isOver = true;
          }
        }),
      },
    });
    const { client } = await openGraph(built, { timeoutSeconds: 0.2, subscriptions: { operations: true } });
    const socket = await rawSocket(client, { init: true });

    for (const kind of ["query", "subscription"]) {
      socket.say({ type: "subscribe", id: kind, payload: { query: `${kind} { slow { n } }` } });
      expect(await socket.hear()).toMatchObject({
        id: kind,
        type: "error",
        payload: [{ extensions: { code: "HANDLER_TIMEOUT" } }],
      });
    }
    await until(() => isOver);
  });

  it("leaves nothing of 300 sockets that connect, subscribe and disconnect in every way", async () => {
    const { open, built } = watched();
    const { client, app } = await openGraph(built, { subscriptions: { connectsPerMinute: 0 } });
    const ways = ["complete", "close", "terminate", "at once"] as const;

    await Promise.all(
      Array.from({ length: 10 }, async (_, worker) => {
        for (let n = 0; n < 30; n++) {
          const way = ways[(n + worker) % ways.length];
          const socket = await rawSocket(client, { init: way !== "at once" });
          if (way === "at once") socket.say({ type: "connection_init" });
          socket.say({ type: "subscribe", id: "1", payload: { query: "subscription { live }" } });
          if (way === "complete") {
            socket.say({ type: "complete", id: "1" });
            socket.close();
          } else if (way === "close") socket.close();
          else socket.terminate();
        }
      }),
    );

    await until(() => open.generators === 0 && open.dependencies === 0);
    expect(open).toEqual({ generators: 0, dependencies: 0 });
    await app.close();
    expect(open).toEqual({ generators: 0, dependencies: 0 });
  });
});
