import type { ExecutionResult } from "graphql";
import { Depend, provide, topic, WebSocketContext } from "portico";
import { field, type ObjectType, object, schema, subscription, t } from "portico/graphql";
import { expect, it, vi } from "vitest";
import type { ResultStream } from "../../src/graphql/run/run-subscription.ts";
import { listen, socketContext } from "./ask.ts";

const query = { a: field(t.int)(() => 1) };

async function collect(stream: ResultStream | ExecutionResult): Promise<unknown[]> {
  const results: unknown[] = [];
  for await (const { data, errors } of stream as ResultStream) results.push(JSON.parse(JSON.stringify(errors ?? data)));
  return results;
}

it("streams one result per value that the generator yields", async () => {
  const built = schema({
    query,
    subscription: {
      ticks: subscription(t.int, { params: { to: t.int(2), ws: WebSocketContext } })(async function* ({ to, ws, ctx }) {
        for (let tick = 1; tick <= to; tick++) yield ws === ctx ? tick : -1;
      }),
    },
  });

  expect(await collect(await listen(built, "subscription { ticks(to: 3) }"))).toEqual([
    { ticks: 1 },
    { ticks: 2 },
    { ticks: 3 },
  ]);
});

it("[DEP-13] keeps the dependencies of the subscription's resolver open until it ends", async () => {
  const log: string[] = [];
  const pool = async function* (): AsyncGenerator<number, void, void> {
    log.push("open");
    try {
      yield 1;
    } finally {
      log.push("close");
    }
  };
  const built = schema({
    query,
    subscription: {
      three: subscription(t.int, { params: { pool: Depend(pool) } })(async function* ({ pool }) {
        for (const n of [1, 2, 3]) {
          log.push(`event ${n}`);
          yield n * pool;
        }
      }),
    },
  });

  await collect(await listen(built, "subscription { three }"));

  expect(log).toEqual(["open", "event 1", "event 2", "event 3", "close"]);
});

it("runs each event as a separate operation, with its own values and outcome", async () => {
  const outcomes: string[] = [];
  const make = vi.fn<() => object>(() => ({}));
  const unit = provide(async function* ({ ctx }) {
    try {
      yield make();
    } finally {
      outcomes.push(ctx.outcome);
    }
  });
  const Event: ObjectType<{ readonly n: number }> = object("Event", {
    n: field(t.int, { params: { unit: Depend(unit) } })(({ parent }) => {
      if (parent.n === 2) throw new Error("two");
      return parent.n;
    }),
    again: field(t.nullable(t.int), { params: { unit: Depend(unit) } })(({ parent }) => parent.n),
  });
  const built = schema({
    query,
    subscription: {
      events: subscription(Event)(async function* () {
        for (const n of [1, 2, 3]) yield { n };
      }),
    },
  });
  const ctx = socketContext();

  const results = await collect(await listen(built, "subscription { events { n again } }", ctx));

  expect(results).toHaveLength(3);
  expect(make).toHaveBeenCalledTimes(3);
  expect(outcomes).toEqual(["success", "failure", "success"]);
  expect(ctx.outcome).toBe("pending");
});

it("ends and closes its dependencies when the client disconnects while it is idle", async () => {
  const added = topic<number>("numbers.added");
  const log: string[] = [];
  const pool = provide(async function* ({ ctx }) {
    try {
      yield 1;
    } finally {
      log.push(`closed ${ctx.outcome}`);
    }
  });
  const built = schema({
    query,
    subscription: {
      added: subscription(t.int, { params: { pool: Depend(pool) } })(async function* ({ ctx }) {
        yield* ctx.pubsub.subscribe(added);
      }),
    },
  });
  const ctx = socketContext();
  const stream = (await listen(built, "subscription { added }", ctx)) as ResultStream;
  const first = stream.next();
  await ctx.pubsub.publish(added, 7);
  expect((await first).value).toMatchObject({ data: { added: 7 } });
  const waiting = stream.next();

  await stream.return();

  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(log).toEqual(["closed success"]);
});

it("returns the errors if there is no stream, and closes its dependencies", async () => {
  const log: string[] = [];
  const pool = provide(async function* ({ ctx }) {
    try {
      yield 1;
    } finally {
      log.push(ctx.outcome);
    }
  });
  const built = schema({
    query,
    subscription: {
      bad: subscription(t.int, {
        params: { pool: Depend(pool), needs: Depend(() => Promise.reject(new Error("away"))) },
      })(async function* () {
        yield 1;
      }),
      breaks: subscription(t.int, { params: { pool: Depend(pool) } })(async function* () {
        yield 1;
        throw new Error("broken");
      }),
      typed: subscription(t.int, { params: { n: t.int } })(async function* ({ n }) {
        yield n;
      }),
    },
  });

  expect(await listen(built, "subscription { bad }")).toMatchObject({ errors: [{ message: "away" }] });
  await expect(collect(await listen(built, "subscription { breaks }"))).rejects.toThrow("broken");
  expect(await listen(built, "subscription ($n: Int!) { typed(n: $n) }")).toMatchObject({ errors: [{}] });

  expect(log).toEqual(["failure", "failure"]);
});

it("closes its dependencies when the client disconnects before the first event", async () => {
  const log: string[] = [];
  const pool = async function* (): AsyncGenerator<number, void, void> {
    log.push("open");
    try {
      yield 1;
    } finally {
      log.push("close");
    }
  };
  const built = schema({
    query,
    subscription: {
      never: subscription(t.int, { params: { pool: Depend(pool) } })(async function* ({ pool }) {
        log.push("started");
        yield pool;
      }),
    },
  });
  const stream = (await listen(built, "subscription { never }")) as ResultStream;

  expect(await stream.return()).toEqual({ done: true, value: undefined });
  expect(await stream.next()).toEqual({ done: true, value: undefined });

  expect(log).toEqual(["open", "close"]);
});

it("is a failure when its reader throws, or when the generator cannot end", async () => {
  const outcomes: string[] = [];
  const pool = provide(async function* ({ ctx }) {
    try {
      yield 1;
    } finally {
      outcomes.push(ctx.outcome);
    }
  });
  const built = schema({
    query,
    subscription: {
      one: subscription(t.int, { params: { pool: Depend(pool), fails: t.boolean(false) } })(async function* ({
        pool,
        fails,
      }) {
        try {
          yield pool;
        } finally {
          // oxlint-disable-next-line no-unsafe-finally -- so a generator fails to end
          if (fails) throw new Error("cannot end");
        }
      }),
    },
  });
  const thrown = (await listen(built, "subscription { one }")) as ResultStream;
  const stuck = (await listen(built, "subscription { one(fails: true) }")) as ResultStream;
  await thrown.next();
  await stuck.next();

  await expect(thrown.throw(new Error("the socket broke"))).rejects.toThrow("the socket broke");
  await expect(stuck.return()).rejects.toThrow("cannot end");

  expect(outcomes).toEqual(["failure", "failure"]);
});
