import { AsyncLocalStorage } from "node:async_hooks";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Depend, topic } from "portico";
import { field, mutation, type ObjectType, object, schema, subscription, t } from "portico/graphql";
import { type LiveClient, logCatcher, manualClock } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { openGraph, rawSocket } from "./open.ts";
import { until } from "./until.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
const tick = topic<number>("test.tick");
const subscribe = (id: string, query: string) => ({ type: "subscribe", id, payload: { query } });

/** A schema whose subscriptions and queries say how many of them are alive. */
function watched(opening?: Opening) {
  const alive = { generators: 0, queries: 0, started: 0, mutations: 0 };
  /** Ends the stubborn operations. */
  const end = Promise.withResolvers<void>();
  const slowly = async (): Promise<void> => {
    opening?.begun.resolve();
    await opening?.done.promise;
  };
  const slow = opening === undefined ? {} : { slow: Depend(slowly) };
  const built = schema({
    query: {
      waits: field(t.int)(async ({ ctx }) => {
        alive.queries++;
        alive.started++;
        await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
        alive.queries--;
        return 1;
      }),
      stubborn: field(t.int)(async () => {
        alive.queries++;
        alive.started++;
        await end.promise;
        return alive.queries--;
      }),
    },
    mutation: { count: mutation(t.int)(() => ++alive.mutations) },
    subscription: {
      live: subscription(t.int, { params: slow })(async function* ({ ctx }) {
        alive.generators++;
        alive.started++;
        try {
          yield* ctx.pubsub.subscribe(tick);
        } finally {
          alive.generators--;
        }
      }),
      stubborn: subscription(t.int)(async function* () {
        alive.generators++;
        alive.started++;
        try {
          await end.promise;
          yield 1;
        } finally {
          alive.generators--;
        }
      }),
    },
  });
  return { alive, built, end };
}

interface Opening {
  readonly begun: PromiseWithResolvers<void>;
  readonly done: PromiseWithResolvers<void>;
}

function askForStream({ port }: LiveClient, query: string): ReturnType<typeof request> {
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  const outgoing = request({ port, path: "/graphql", method: "POST", headers });
  outgoing.on("error", () => {});
  outgoing.end(JSON.stringify({ query }));
  onTestFinished(() => void outgoing.destroy());
  return outgoing;
}

describe("nothing is left behind", () => {
  it("of messages that a client sends after its socket was closed: none of them runs", async () => {
    const { alive, built } = watched();
    const { client } = await openGraph(built, { subscriptions: { operations: true } });
    const socket = await rawSocket(client, { init: true });

    socket.send("no message");
    socket.say(subscribe("1", "subscription { live }"));
    socket.say(subscribe("2", "mutation { count }"));

    expect((await socket.closed).code).toBe(4400);
    await sleep(50);
    expect(alive).toEqual({ generators: 0, queries: 0, started: 0, mutations: 0 });
  });

  it.each(["subscription { stubborn }", "{ stubborn }"])(
    "of the limit: a completed operation is counted until it has ended (%s)",
    async (query) => {
      const { alive, built, end } = watched();
      const { client } = await openGraph(built, { subscriptions: { operations: true, maxPerSocket: 3 } });
      const socket = await rawSocket(client, { init: true });

      for (let n = 1; n <= 3; n++) {
        socket.say(subscribe(`${n}`, query));
        await until(() => alive.started === n);
        socket.say({ type: "complete", id: `${n}` });
      }
      socket.say(subscribe("4", query));

      expect(await socket.hear()).toMatchObject({
        type: "error",
        payload: [{ extensions: { code: "TOO_MANY_SUBSCRIPTIONS" } }],
      });
      expect(alive).toMatchObject({ started: 3 });
      end.resolve();
      await until(() => alive.generators === 0 && alive.queries === 0);
      socket.say({ type: "ping" });
      expect((await socket.hear()).type).toBe("pong");
      socket.say(subscribe("again", query));
      await until(() => alive.started === 4);
    },
  );

  it("of a query on the socket that the client completes: its signal is aborted", async () => {
    const { alive, built } = watched();
    const { client } = await openGraph(built, { subscriptions: { operations: true } });
    const socket = await rawSocket(client, { init: true });
    socket.say(subscribe("1", "{ waits }"));
    await until(() => alive.queries === 1);

    socket.say({ type: "complete", id: "1" });

    await until(() => alive.queries === 0);
    socket.say({ type: "ping" });
    expect((await socket.hear()).type).toBe("pong");
  });

  it("of an event that is being executed when the client completes or disconnects: its signal is aborted, and nothing is logged", async () => {
    const log = logCatcher();
    let running = 0;
    const Slow: ObjectType<object> = object("Slow", {
      n: field(t.int)(async ({ ctx }) => {
        running++;
        await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
        return --running;
      }),
      m: field(t.int)(() => 1),
    });
    const once = async function* (): AsyncGenerator<object, void, void> {
      yield {};
    };
    const built = schema({
      query: { a: field(t.int)(() => 1) },
      subscription: { slow: subscription(Slow)(once) },
    });
    const { client } = await openGraph(built, { app: { logger: log } });
    const socket = await rawSocket(client, { init: true });
    const outgoing = askForStream(client, "subscription { slow { n m } }");
    socket.say(subscribe("1", "subscription { slow { n m } }"));
    socket.say(subscribe("2", "subscription { slow { n m } }"));
    await until(() => running === 3);

    socket.say({ type: "complete", id: "1" });
    await until(() => running === 2);
    outgoing.destroy();
    await until(() => running === 1);
    socket.close();
    await until(() => running === 0);

    await sleep(20);
    expect(log.lines.filter(({ msg }) => !msg.startsWith("Server listening"))).toEqual([]);
  });

  it("of the signals of past events, while the socket stays open", async () => {
    const signals: WeakRef<AbortSignal>[] = [];
    const Listening: ObjectType<object> = object("Listening", {
      n: field(t.int)(async ({ ctx }) => {
        ctx.signal.addEventListener("abort", () => {});
        signals.push(new WeakRef(ctx.signal));
        return 1;
      }),
    });
    const built = schema({
      query: { a: field(t.int)(() => 1) },
      subscription: {
        many: subscription(Listening)(async function* ({ ctx }) {
          for (let n = 0; n < 50; n++) yield {};
          yield* ctx.pubsub.subscribe(topic<object>("test.never"));
        }),
      },
    });
    const { client } = await openGraph(built);
    const socket = await rawSocket(client, { init: true });
    socket.say(subscribe("1", "subscription { many { n } }"));
    for (let n = 0; n < 50; n++) await socket.hear();

    await expect
      .poll(() => {
        collectGarbage();
        return signals.filter((signal) => signal.deref() !== undefined).length;
      })
      .toBeLessThan(5);
    socket.say({ type: "ping" });
    expect((await socket.hear()).type).toBe("pong");
  });

  it.each(["the client leaves", "its time is over"])(
    "of a stream over HTTP whose subscription opens after %s",
    async (why) => {
      const opening = { begun: Promise.withResolvers<void>(), done: Promise.withResolvers<void>() };
      const { alive, built } = watched(opening);
      const left = Promise.withResolvers<void>();
      const { client, app } = await openGraph(built, {
        ...(why === "its time is over" ? { timeoutSeconds: 0.1 } : {}),
        // Only a stream that stays open would take so long.
        app: { shutdown: { deadlineSeconds: 3_600 } },
        declare: ({ engine }) => engine.server.on("connection", (socket) => socket.once("close", left.resolve)),
      });

      const outgoing = askForStream(client, "subscription { live }");
      const answered = new Promise((resolve) => outgoing.once("response", resolve));
      await opening.begun.promise;
      if (why === "the client leaves") outgoing.destroy();
      await (why === "the client leaves" ? left.promise : answered);
      opening.done.resolve();
      await app.close();

      expect(alive).toMatchObject({ generators: 0, started: 0 });
    },
  );

  it("of a stream over HTTP that its client does not read: it is cut after 30 s", async () => {
    const clock = manualClock(0);
    let isOver = false;
    const fast = schema({
      query: { a: field(t.int)(() => 1) },
      subscription: {
        fast: subscription(t.string)(async function* () {
          try {
            for (;;) yield "x".repeat(64 * 1024);
          } finally {
            isOver = true;
          }
        }),
      },
    });
    const { client } = await openGraph(fast, { app: { clock }, subscriptions: { pauseAbove: "64kb" } });
    const outgoing = askForStream(client, "subscription { fast }");
    await new Promise((resolve) => outgoing.once("response", resolve));
    clock.advance(29_000);
    await sleep(300);
    expect(isOver).toBe(false);

    // How soon the buffers of the system are full is not known.
    await until(() => {
      clock.advance(1_000);
      return isOver;
    });
  });

  it("of an id that is too long to repeat with every event: 4400", async () => {
    const { alive, built } = watched();
    const { client } = await openGraph(built);
    const [short, long] = [await rawSocket(client, { init: true }), await rawSocket(client, { init: true })];

    short.say(subscribe("é".repeat(256), "subscription { live }"));
    long.say(subscribe("x".repeat(257), "subscription { live }"));

    expect((await long.closed).code).toBe(4400);
    await until(() => alive.started === 1);
  });
});

describe("a shared subscription", () => {
  it("does not see the async context of its first member's middleware", async () => {
    const visitor = new AsyncLocalStorage<string>();
    const Seen: ObjectType<object> = object("Seen", { by: field(t.string)(() => visitor.getStore() ?? "nobody") });
    const { client } = await openGraph(
      schema({
        query: { a: field(t.int)(() => 1) },
        subscription: {
          seen: subscription(Seen, { shared: true })(async function* () {
            yield {};
          }),
          named: subscription(t.string, { shared: true })(async function* () {
            yield visitor.getStore() ?? "nobody";
          }),
        },
      }),
      { declare: (app) => app.use((_ctx, next) => visitor.run("ann", next)) },
    );

    const [seen] = await Array.fromAsync(client.subscribe("subscription { seen { by } }"));
    const [named] = await Array.fromAsync(client.subscribe("subscription { named }"));

    expect([seen?.data, named?.data]).toEqual([{ seen: { by: "nobody" } }, { named: "nobody" }]);
  });

  it("reports the errors that were sent to the hooks, like any other", async () => {
    const Odd: ObjectType<number> = object("Odd", {
      n: field(t.int)(({ parent }) => {
        if (parent % 2 === 0) throw new Error("even");
        return parent;
      }),
    });
    const ends: { readonly name: string | null; readonly errors: number; readonly ok: boolean }[] = [];
    const numbers = async function* (): AsyncGenerator<number, void, void> {
      yield* [1, 2, 3, 4];
    };
    const { client } = await openGraph(
      schema({
        query: { a: field(t.int)(() => 1) },
        subscription: {
          own: subscription(t.nullable(Odd))(numbers),
          shared: subscription(t.nullable(Odd), { shared: true })(numbers),
        },
      }),
      {
        graph: (graph) =>
          graph.onOperation(({ errors, ok }, { operationName: name }) =>
            ends.push({ name, errors: errors.length, ok }),
          ),
      },
    );

    await Array.fromAsync(client.subscribe("subscription Own { own { n } }"));
    await Array.fromAsync(client.subscribe("subscription Shared { shared { n } }"));

    expect(ends).toEqual([
      { name: "Own", errors: 2, ok: false },
      { name: "Shared", errors: 2, ok: false },
    ]);
  });
});

describe("a hook", () => {
  it("cannot change the response of a rejected or failing operation", async () => {
    const fails = schema({
      query: { a: field(t.int)(() => 1) },
      subscription: {
        fails: subscription(t.int)(async function* () {
          yield 1;
          throw new Error("tulip");
        }),
        failsForAll: subscription(t.int, { shared: true })(async function* () {
          yield 1;
          throw new Error("tulip");
        }),
      },
    });
    const change = (result: { readonly errors: readonly object[] }): void => {
      for (const error of result.errors) Object.assign(error, { message: "changed" });
      (result.errors as object[]).length = 0;
    };
    const { client } = await openGraph(fails, { graph: (graph) => graph.onOperation(change) });
    const socket = await rawSocket(client, { init: true });

    socket.say(subscribe("1", "subscription { unknown }"));
    expect(await socket.hear()).toMatchObject({
      type: "error",
      payload: [{ extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }],
    });
    for (const name of ["fails", "failsForAll"]) {
      socket.say(subscribe(name, `subscription { ${name} }`));
      expect((await socket.hear()).type).toBe("next");
      expect(await socket.hear()).toMatchObject({ type: "error", payload: [{ message: "Unexpected error" }] });
      const results = await Array.fromAsync(client.subscribe(`subscription { ${name} }`));
      expect(results[1]?.errors).toMatchObject([{ message: "Unexpected error" }]);
    }
  });
});
