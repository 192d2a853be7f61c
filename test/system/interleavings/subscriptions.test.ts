import { deepEqual, equal, ok } from "node:assert/strict";
import { assert, asyncProperty, boolean, integer, record, type Scheduler } from "fast-check";
import { PorticoApp, topic, userChanged } from "portico";
import { AuthenticationMiddleware, SimpleUser } from "portico/auth";
import { field, Graph, schema, subscription, t } from "portico/graphql";
import { type GraphEvents, testClient } from "portico/testing";
import { expect, it } from "vitest";
import { HeaderBackend } from "../../auth/backends/recording-backend.ts";
import { atRest, schedules, step } from "./schedules.ts";

const tick = topic<number>("test.tick");

/** An application whose subscription has a gate, and both take their steps when the scheduler says so. */
function opened(s: Scheduler) {
  const state = { isOpen: true, started: 0, ended: 0, isScheduled: true };
  const pause = (label: string): Promise<void> => (state.isScheduled ? step(s, label) : Promise.resolve());
  const ticks = subscription(t.int, {
    auth: async () => {
      const { isOpen } = state;
      await pause("the gate");
      return isOpen;
    },
  })(async function* ({ ctx }) {
    state.started++;
    try {
      for await (const n of ctx.pubsub.subscribe(tick)) {
        await pause(`event ${n}`);
        yield n;
      }
    } finally {
      state.ended++;
    }
  });
  const others = subscription(t.int)(async function* ({ ctx }) {
    yield* ctx.pubsub.subscribe(tick);
  });
  const app = new PorticoApp({ logger: false });
  app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new HeaderBackend() }));
  new Graph(schema({ query: { hello: field(t.string)(() => "world") }, subscription: { ticks, others } }), {
    subscriptions: {},
  }).mount(app);
  return { app, state };
}

/** The events and the last error, and whether it has ended. */
function read(events: GraphEvents) {
  const seen = { numbers: [] as number[], codes: [] as unknown[], isOver: false };
  void (async () => {
    for await (const { data, errors } of events) {
      if (data !== null && data !== undefined) seen.numbers.push(data["ticks"] as number);
      seen.codes.push(...(errors ?? []).map(({ extensions }) => extensions["code"]));
    }
    seen.isOver = true;
  })();
  return seen;
}

it("delivers every event between the start and the end of a subscription, and none after, in any order", async () => {
  const run = asyncProperty(
    schedules(),
    integer({ min: 1, max: 5 }),
    record({ isFirst: boolean(), isLeft: boolean(), isClosed: boolean() }),
    async (s, count, { isFirst, isLeft, isClosed }) => {
      const { app, state } = opened(s);
      const client = testClient(app);
      // The process listens for changes of users from its first connection on.
      const other = client.subscribe("subscription { others }", {}, { headers: { "x-jwt": "bob" } });
      if (!isFirst) await other.ready();
      const events = client.subscribe("subscription { ticks }", {}, { headers: { "x-jwt": "ann" } });
      const published: number[] = [];
      let [readyAt, leftAt, closedAt] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      let seen = { numbers: [] as readonly number[], codes: [] as readonly unknown[], isOver: false };

      const flows = [
        (async () => {
          await step(s, "subscribe");
          await events.ready();
          readyAt = published.length;
          seen = read(events);
        })(),
        (async () => {
          for (let n = 1; n <= count; n++) {
            await step(s, `publish ${n}`);
            published.push(n);
            await app.stores.bus.publish(tick, n);
          }
        })(),
        (async () => {
          if (!isLeft) return;
          await step(s, "leave");
          leftAt = published.length;
          await events.return();
        })(),
        (async () => {
          if (!isClosed) return;
          await step(s, "close the gate");
          state.isOpen = false;
          closedAt = published.length;
          await app.stores.bus.publish(userChanged, { user: "ann" });
        })(),
      ];
      await s.waitFor(Promise.all(flows));
      await s.waitIdle();
      await atRest();
      const atEnd = [...seen.numbers];
      state.isScheduled = false;
      await app.stores.bus.publish(tick, count + 1);
      await atRest();

      const due = published.slice(readyAt, Math.min(leftAt, closedAt));
      const [start = 0] = seen.numbers;
      // Without a gap, in order, from the first event after `ready()` or from an earlier one.
      deepEqual(atEnd, published.slice(Math.max(0, start - 1), Math.max(0, start - 1) + atEnd.length));
      if (!isLeft && !isClosed) {
        ok(
          due.every((n) => atEnd.includes(n)),
          "an event was lost",
        );
        equal(seen.numbers.at(-1), count + 1);
      } else deepEqual(seen.numbers, atEnd, "an event after the end");
      if (isClosed && !isLeft) deepEqual([seen.codes, seen.isOver], [["FORBIDDEN"], true]);
      await Promise.all([events.return(), other.return()]);
      await app.close();
      equal(state.ended, state.started);
    },
  );

  await expect(assert(run, { numRuns: 300 })).resolves.toBeUndefined();
});
