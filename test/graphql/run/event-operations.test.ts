import { type ExecutionResult, type GraphQLObjectType, type GraphQLSchema, parse } from "graphql";
import { Depend, provide } from "portico";
import { field, GraphContext, type ObjectType, object, schema, subscription, t } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { type ResultStream, runSubscription } from "../../../src/graphql/run/run-subscription.ts";
import { listen, socketContext } from "../ask.ts";
import { schemaOf } from "../execute/same-as-graphql.ts";

const query = { a: field(t.int)(() => 1) };
const OVER = { done: true, value: undefined };

/** A schema that Portico did not build, whose only subscription has this stream. */
function adopted(subscribe: (contextValue: GraphContext) => unknown, resolve?: () => unknown): GraphQLSchema {
  const built = schemaOf("type Query { a: Int } type Subscription { n: Int }");
  const n = (built.getType("Subscription") as GraphQLObjectType).getFields()["n"];
  Object.assign(n ?? {}, {
    subscribe: (_source: unknown, _args: unknown, contextValue: GraphContext) => subscribe(contextValue),
    ...(resolve === undefined ? {} : { resolve }),
  });
  return built;
}

/** A stream whose events are sent by hand. It has no `return`, unlike a generator. */
function manualEvents() {
  let waiting = Promise.withResolvers<IteratorResult<unknown>>();
  const next = (): Promise<IteratorResult<unknown>> => {
    waiting = Promise.withResolvers();
    return waiting.promise;
  };
  const send = (n: number): void => waiting.resolve({ done: false, value: { n } });
  return { events: { [Symbol.asyncIterator]: () => ({ next }) }, send, fail: (error: Error) => waiting.reject(error) };
}

describe("a subscription that cannot start", () => {
  it("because its resolver returns no stream reports it, and its operation fails", async () => {
    const contexts: GraphContext[] = [];
    const built = adopted((context) => {
      contexts.push(context);
      return 7;
    });

    // graphql 16 rejects, and graphql 17 returns the error.
    const message = await listen(built, "subscription { n }").then(
      (result) => (result as ExecutionResult).errors?.[0]?.message,
      (error: Error) => error.message,
    );

    expect(message).toContain("Subscription field must return Async Iterable");
    expect(contexts.map(({ connection }) => connection.outcome)).toEqual(["failure"]);
  });

  it("because of an error in its resolver has the error as its result, and its operation fails", async () => {
    const contexts: GraphContext[] = [];
    const built = adopted((context) => {
      contexts.push(context);
      throw new Error("no stream");
    });

    expect(await listen(built, "subscription { n }")).toMatchObject({ errors: [{ message: "no stream" }] });
    expect(contexts.map(({ connection }) => connection.outcome)).toEqual(["failure"]);
  });
});

describe("an event", () => {
  const facts = field(t.string, { params: { graph: GraphContext } })(
    ({ graph, ctx }) => `${graph.operationName} ${graph.cost} ${ctx.outcome} ${ctx.followsEvents}`,
  );
  const Event: ObjectType<object> = object("Event", { facts });
  const told: string[] = [];
  const built = schema({
    query,
    subscription: {
      events: subscription(Event, { params: { graph: GraphContext } })(async function* ({ graph, ctx }) {
        told.push(`${graph.operationName} ${graph.cost} ${ctx.followsEvents}`);
        yield {};
        yield {};
      }),
    },
  });

  it("knows the name and the cost of its operation, as the subscription itself does", async () => {
    told.length = 0;
    const document = parse("subscription Named { events { facts } }");
    const named = { schema: built, document, operationName: "Named", cost: 7 };

    const results: unknown[] = [];
    for (const execution of [named, { schema: built, document }])
      for await (const { data } of (await runSubscription(socketContext(), execution)) as ResultStream)
        results.push(data);

    expect(told).toEqual(["Named 7 true", "null null true"]);
    const [first, , third] = results;
    expect(results).toEqual([first, first, third, third]);
    expect([first, third]).toMatchObject([
      { events: { facts: "Named 7 pending true" } },
      { events: { facts: "null null pending true" } },
    ]);
  });

  it("is not executed if the client disconnects before it", async () => {
    let executed = 0;
    const { events, send } = manualEvents();
    const stream = await open(
      adopted(
        () => events,
        () => ++executed,
      ),
    );
    const first = stream.next();
    send(1);
    expect(await first).toMatchObject({ done: false, value: { data: { n: 1 } } });
    const waiting = stream.next();

    expect(await stream.return()).toEqual(OVER);
    send(2);

    expect(await waiting).toEqual(OVER);
    expect(executed).toBe(1);
  });

  it("is cancelled if the client disconnects while it is executed, and has no result", async () => {
    const started = Promise.withResolvers<AbortSignal>();
    const release = Promise.withResolvers<number>();
    const outcomes: string[] = [];
    const unit = provide(async function* ({ ctx }) {
      try {
        yield 1;
      } finally {
        outcomes.push(ctx.outcome);
      }
    });
    const Slow: ObjectType<object> = object("Slow", {
      n: field(t.int, { params: { unit: Depend(unit) } })(({ ctx }) => {
        started.resolve(ctx.signal);
        return release.promise;
      }),
    });
    const slow = subscription(Slow)(async function* () {
      yield {};
    });
    const stream = (await listen(
      schema({ query, subscription: { slow } }),
      "subscription { slow { n } }",
    )) as ResultStream;
    const waiting = stream.next();
    const signal = await started.promise;
    expect(signal.aborted).toBe(false);

    const left = stream.return();
    expect(signal.aborted).toBe(true);
    release.resolve(1);

    expect([await left, await waiting]).toEqual([OVER, OVER]);
    expect(outcomes).toEqual(["failure"]);
  });

  it("ends the subscription if the stream fails", async () => {
    const { events, fail } = manualEvents();
    const contexts: GraphContext[] = [];
    const stream = await open(
      adopted((context) => {
        contexts.push(context);
        return events;
      }),
    );
    const waiting = stream.next();

    fail(new Error("broken"));

    await expect(waiting).rejects.toThrow("broken");
    expect(contexts.map(({ connection }) => connection.outcome)).toEqual(["failure"]);
  });
});

describe("a stream of results", () => {
  const ticks = subscription(t.int)(async function* ({ ctx }) {
    try {
      yield 1;
      yield 2;
    } finally {
      ended.push(ctx.outcome);
    }
  });
  const ended: string[] = [];
  const built = schema({ query, subscription: { ticks } });

  it("is its own iterator, and ends when it is disposed of", async () => {
    ended.length = 0;
    const stream = (await listen(built, "subscription { ticks }")) as ResultStream;
    expect(stream[Symbol.asyncIterator]()).toBe(stream);
    expect(await stream.next()).toMatchObject({ done: false, value: { data: { ticks: 1 } } });

    await stream[Symbol.asyncDispose]();

    expect(ended).toEqual(["pending"]);
    expect(await stream.next()).toEqual(OVER);
  });

  it("has no denial to find without a gate", async () => {
    const stream = (await listen(built, "subscription { ticks }")) as ResultStream;

    expect(await stream.denialSince(new GraphContext(socketContext(), { operationName: null, cost: null }))).toBeNull();
    await stream.return();
  });
});

async function open(built: GraphQLSchema): Promise<ResultStream> {
  const stream: ResultStream | ExecutionResult = await listen(built, "subscription { n }");
  return stream as ResultStream;
}
