import { setTimeout as sleep } from "node:timers/promises";
import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { GraphQLError } from "graphql";
import { Metrics, opentelemetry, topic } from "portico";
import {
  field,
  type ObjectType,
  type OperationContext,
  type OperationHook,
  type OperationResult,
  object,
  schema,
  subscription,
  t,
} from "portico/graphql";
import { type LogCatcher, logCatcher, type ManualClock, manualClock } from "portico/testing";
import { describe, expect, it } from "vitest";
import { type Heard, openGraph, rawSocket } from "../subscriptions/open.ts";
import { until } from "../subscriptions/until.ts";

const news = topic<number>("hooks.news");
const Noise: ObjectType<{ readonly n: number }> = object("Noise", {
  fails: field(t.nullable(t.int))(({ parent }) => {
    throw new GraphQLError(`event ${parent.n}`);
  }),
});
type Call = readonly [result: OperationResult, context: OperationContext];

/** An endpoint with subscriptions, whose hook keeps what it is called with. */
async function recorded(hooks: readonly OperationHook[] = []) {
  const clock: ManualClock = manualClock();
  const log: LogCatcher = logCatcher();
  const calls: Call[] = [];
  const built = schema({
    query: {
      hello: field(t.string)(() => "world"),
      wait: field(t.string, { params: { ms: t.int } })(({ ms }) => {
        clock.advance(ms);
        return "waited";
      }),
    },
    subscription: {
      ticks: subscription(t.int)(async function* () {
        for (const n of [1, 2, 3]) {
          clock.advance(20_000);
          yield n;
        }
      }),
      news: subscription(t.int)(async function* ({ ctx }) {
        yield* ctx.pubsub.subscribe(news);
      }),
      shared: subscription(t.int, { shared: true })(async function* ({ ctx }) {
        yield* ctx.pubsub.subscribe(news);
      }),
      noisy: subscription(Noise)(async function* () {
        for (let n = 0; n < 150; n++) yield { n };
      }),
      breaks: subscription(t.int)(async function* () {
        yield 1;
        throw new Error("broken");
      }),
      refused: subscription(t.int, { auth: true })(async function* () {
        yield 1;
      }),
    },
  });
  const { client } = await openGraph(built, {
    app: { clock, logger: log },
    declare: (app) =>
      app.post("/news", async ({ ctx }) => {
        await ctx.pubsub.publish(news, 1);
      }),
    graph: (graph) => {
      for (const hook of [...hooks, (...call: Call) => void calls.push(call)]) graph.onOperation(hook);
    },
  });
  return { client, calls, clock, log };
}

type Client = Awaited<ReturnType<typeof recorded>>["client"];
const ask = (query: string) => ({ id: "1", type: "subscribe", payload: { query } });

/** The messages about a subscription on a socket, until it ends. */
async function overSocket(client: Client, query: string): Promise<readonly string[]> {
  const socket = await rawSocket(client, { init: true });
  socket.say(ask(query));
  const heard: Heard[] = [];
  do heard.push(await socket.hear());
  while (heard.at(-1)?.type === "next");
  return heard.map(({ type }) => type);
}

/** The messages about a subscription over Server-Sent Events. */
async function overEvents(client: Client, query: string): Promise<readonly string[]> {
  const answer = await fetch(`http://127.0.0.1:${client.port}/graphql`, {
    method: "POST",
    headers: { accept: "text/event-stream", "content-type": "application/json" },
    body: JSON.stringify({ query }),
  });
  return [...(await answer.text()).matchAll(/^event: (\w+)$/gm)].map(([, name]) => name ?? "");
}

describe.each([
  ["a socket", overSocket],
  ["Server-Sent Events", overEvents],
] as const)("hooks of a subscription over %s", (_transport, subscribe) => {
  it("[EVT-01] are called once, at its end, with its name, its cost and how long it was open", async () => {
    const { client, calls } = await recorded();

    const heard = await subscribe(client, "subscription Live { ticks }");
    await until(() => calls.length > 0);

    expect(heard).toEqual(["next", "next", "next", "complete"]);
    expect(calls).toMatchObject([
      [
        { data: null, errors: [], ok: true },
        { operationName: "Live", operationType: "subscription", cost: 1, durationSeconds: 60, isRefused: false },
      ],
    ]);
  });

  it("are counted by Metrics, without the time that they were open", async () => {
    const metrics = new Metrics();
    const { client, calls } = await recorded([metrics]);

    await subscribe(client, "subscription Live { ticks }");
    await subscribe(client, "subscription Both { ticks }");
    await client.graphql("query Both { wait(ms: 3000) }");
    await until(() => calls.length === 3);

    expect(metrics.snapshot()).toEqual({
      Live: { count: 1, errors: 0, average_seconds: 0, slowest_seconds: 0, average_cost: 1 },
      Both: { count: 2, errors: 0, average_seconds: 3, slowest_seconds: 3, average_cost: 1 },
    });
  });

  it("[EVT-01] [OPC-02] receive the error that ended it", async () => {
    const { client, calls } = await recorded();

    await subscribe(client, "subscription Live { breaks }");
    await until(() => calls.length > 0);

    expect(calls).toMatchObject([
      [
        { ok: false, errors: [{ message: "Unexpected error", extensions: { code: "INTERNAL_SERVER_ERROR" } }] },
        { operationName: "Live", isRefused: false },
      ],
    ]);
  });

  it("[LIM-04] receive its first 100 errors, however many it had", async () => {
    const { client, calls } = await recorded();

    const heard = await subscribe(client, "subscription Live { noisy { fails } }");
    await until(() => calls.length > 0);

    expect(heard).toHaveLength(151);
    const messages = calls[0]?.[0].errors.map(({ message }) => message) ?? [];
    expect([messages.length, messages[0], messages.at(-1)]).toEqual([100, "event 0", "event 99"]);
  });

  it.each([
    ["subscription Live { nope }", "GRAPHQL_VALIDATION_FAILED"],
    ["subscription Live { refused }", "UNAUTHENTICATED"],
  ])("[EVT-01] are called for one that never started: %s", async (query, code) => {
    const { client, calls } = await recorded();

    await subscribe(client, query);
    await until(() => calls.length > 0);

    expect(calls).toMatchObject([[{ ok: false, errors: [{ extensions: { code } }] }, { operationName: "Live" }]]);
    expect(calls).toHaveLength(1);
  });
});

describe("hooks on a socket", () => {
  it.each(["news", "shared"])("[EVT-01] are called when the client leaves %s, not before", async (name) => {
    const { client, calls, clock } = await recorded();
    const socket = await rawSocket(client, { init: true });
    socket.say(ask(`subscription Live { ${name} }`));
    const heard = socket.hear();
    // Events that are published before it listens are lost.
    while ((await Promise.race([heard, sleep(5)])) === undefined) await client.post("/news");
    clock.advance(5_000);
    const before = calls.length;

    socket.say({ id: "1", type: "complete" });
    await until(() => calls.length > 0);

    expect(before).toBe(0);
    expect(calls).toMatchObject([[{ ok: true }, { operationName: "Live", durationSeconds: 5 }]]);
  });

  it("[EVT-01] are called when the connection breaks", async () => {
    const { client, calls } = await recorded();
    const socket = await rawSocket(client, { init: true });
    socket.say(ask("subscription Live { news }"));
    socket.say({ id: "2", type: "subscribe", payload: { query: "query Fence { hello }" } });
    await until(() => calls.length === 1);

    socket.terminate();
    await until(() => calls.length === 2);

    expect(calls.map(([, { operationName }]) => operationName)).toEqual(["Fence", "Live"]);
  });

  it("run every event inside the active span", async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const exporter = new InMemorySpanExporter();
    const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer("test");
    const Tick: ObjectType<{ readonly n: number }> = object("Tick", {
      n: field(t.int)(async ({ parent }) => {
        tracer.startSpan("select").end();
        return parent.n;
      }),
    });
    const built = schema({
      query: { hello: field(t.string)(() => "world") },
      subscription: {
        ticks: subscription(Tick)(async function* () {
          yield { n: 1 };
          yield { n: 2 };
        }),
      },
    });
    const { client } = await openGraph(built, {
      graph: (graph) => graph.onOperation(opentelemetry(tracer, { active: true })),
    });

    await overSocket(client, "subscription Live { ticks { n } }");
    await until(() => exporter.getFinishedSpans().length === 3);

    const spans = exporter.getFinishedSpans();
    const whole = spans.find(({ name }) => name === "subscription");
    expect(whole?.attributes).toMatchObject({ "graphql.operation.name": "Live" });
    expect(spans.filter(({ name }) => name === "select").map((span) => span.parentSpanContext?.spanId)).toEqual([
      whole?.spanContext().spanId,
      whole?.spanContext().spanId,
    ]);
    context.disable();
  });
});
