import { setImmediate as nextRound } from "node:timers/promises";
import { memoryStores, topic } from "portico";
import { field, schema, subscription, t } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { openGraph, rawSocket } from "./open.ts";
import { until } from "./until.ts";

const SUBSCRIBERS = 20;
const EVENTS = 400;
const tick = topic<number>("test.burst");
let listening = 0;
let executed = 0;

const root = (shared: boolean) =>
  subscription(t.int, { shared })(async function* ({ ctx }) {
    listening++;
    for await (const n of ctx.pubsub.subscribe(tick)) {
      executed++;
      yield n;
    }
  });
const built = schema({
  query: { a: field(t.int)(() => 1) },
  subscription: { own: root(false), shared: root(true) },
});

describe("a burst of events", () => {
  it.each(["own", "shared"])("yields to the event loop between events, and keeps their order (%s)", async (name) => {
    const stores = memoryStores();
    const { client } = await openGraph(built, { app: { stores }, subscriptions: { connectsPerMinute: 0 } });
    const sockets = await Promise.all(Array.from({ length: SUBSCRIBERS }, () => rawSocket(client, { init: true })));
    listening = 0;
    executed = 0;
    for (const socket of sockets) {
      socket.say({ type: "subscribe", id: "1", payload: { query: `subscription { ${name} }` } });
      socket.say({ type: "ping" });
      await socket.hear();
    }
    await until(() => listening === (name === "own" ? SUBSCRIBERS : 1));
    await nextRound();

    for (let n = 0; n < EVENTS; n++) void stores.bus.publish(tick, n);
    await nextRound();
    const executedInOneRound = executed;

    // One round of the event loop is far from enough for all of them.
    expect(executedInOneRound).toBeLessThan(name === "own" ? (SUBSCRIBERS * EVENTS) / 4 : EVENTS);
    for (const socket of sockets) {
      const received: number[] = [];
      while (received.length < EVENTS) received.push((await socket.hear()).payload.data[name]);
      expect(received).toEqual(Array.from({ length: EVENTS }, (_, n) => n));
    }
  });

  it("serves all subscribers in turn", async () => {
    const stores = memoryStores();
    const { client } = await openGraph(built, { app: { stores }, subscriptions: { connectsPerMinute: 0 } });
    const sockets = await Promise.all(Array.from({ length: SUBSCRIBERS }, () => rawSocket(client, { init: true })));
    listening = 0;
    for (const socket of sockets)
      socket.say({ type: "subscribe", id: "1", payload: { query: "subscription { own }" } });
    await until(() => listening === SUBSCRIBERS);
    await nextRound();

    for (let n = 0; n < EVENTS; n++) void stores.bus.publish(tick, n);
    const lasts = await Promise.all(
      sockets.map(async (socket) => {
        for (let n = 0; n < EVENTS / 2; n++) await socket.hear();
        return executed;
      }),
    );

    // When the first subscriber has half of its events, the others have about half of theirs.
    expect(Math.max(...lasts) - Math.min(...lasts)).toBeLessThan((SUBSCRIBERS * EVENTS) / 2);
  });
});
