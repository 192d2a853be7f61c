import { GraphQLError, parse } from "graphql";
import { Depend, provide } from "portico";
import { field, GraphContext, mutation, schema, t } from "portico/graphql";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Arrival } from "../../../src/graphql/admit/admitted.ts";
import type { Execution } from "../../../src/graphql/execute/execution.ts";
import { runOperation } from "../../../src/graphql/run/run-operation.ts";
import { ask, httpContext, socketContext } from "../ask.ts";

let log: string[];
beforeEach(() => {
  log = [];
});

const unit = provide(async function* ({ ctx }) {
  try {
    yield 1;
  } finally {
    log.push(ctx.outcome);
  }
});
const params = { unit: Depend(unit) };
const fails = (error: Error) => (): never => {
  throw error;
};

describe("the time limit of an operation", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  function started(source: string, execution: Partial<Execution> = {}, arrival?: Pick<Arrival, "isAlone" | "onStart">) {
    const signals: AbortSignal[] = [];
    const hangs = Promise.withResolvers<number>();
    const built = schema({
      query: {
        quick: field(t.int)(async ({ ctx }) => {
          signals.push(ctx.signal);
          return 1;
        }),
        hangs: field(t.int, { params })(({ ctx }) => {
          signals.push(ctx.signal);
          return hangs.promise;
        }),
      },
    });
    const result = Promise.resolve(
      runOperation(socketContext(), { schema: built, document: parse(source), ...execution }, arrival),
    );
    return { result, signals, finish: () => hangs.resolve(1) };
  }

  it("rejects it as timed out, aborts its signal and closes its dependencies as failed", async () => {
    const { result, signals } = started("{ hangs }", { timeoutMs: 1_000 });
    const rejected = errorOf(result);

    await vi.advanceTimersByTimeAsync(999);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    expect(log).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);

    expect(await rejected).toMatchObject({ code: "HANDLER_TIMEOUT", status: 503 });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(log).toEqual(["failure"]);
  });

  it("does not wait for a dependency that hangs as well", async () => {
    const stuck = provide(async function* () {
      try {
        yield 1;
      } finally {
        await new Promise(() => {});
      }
    });
    const built = schema({
      query: { hangs: field(t.int, { params: { stuck: Depend(stuck) } })(() => new Promise<number>(() => {})) },
    });
    const result = runOperation(socketContext(), { schema: built, document: parse("{ hangs }"), timeoutMs: 1_000 });
    const rejected = errorOf(result);

    await vi.advanceTimersByTimeAsync(1_000);

    expect(await rejected).toMatchObject({ code: "HANDLER_TIMEOUT" });
  });

  it("leaves no timer behind after an operation in time, and its signal is never aborted", async () => {
    const { result, signals } = started("{ quick }", { timeoutMs: 1_000 });

    expect(await result).toMatchObject({ data: { quick: 1 } });
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });

  it.each([{}, { timeoutMs: 0 }])("is off with %j", async (execution) => {
    const { result, finish } = started("{ hangs }", execution);
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(1e9);
    finish();

    expect(await result).toMatchObject({ data: { hangs: 1 } });
    expect(log).toEqual(["success"]);
  });

  it("is not the only end: the function that onStart receives cancels the operation", async () => {
    let abort = (): void => {};
    const { result, signals, finish } = started(
      "{ hangs }",
      {},
      {
        isAlone: false,
        onStart: (cancel) => {
          abort = cancel;
        },
      },
    );
    const rejected = errorOf(result);
    await vi.advanceTimersByTimeAsync(1);

    abort();
    finish();

    expect(await rejected).toMatchObject({ code: "HANDLER_TIMEOUT" });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(log).toEqual(["failure"]);
  });
});

describe("the outcome of an operation", () => {
  const built = schema({
    query: { ok: field(t.nullable(t.int), { params })(() => 1) },
    mutation: {
      ok: mutation(t.nullable(t.int), { params })(() => 1),
      plain: mutation(t.nullable(t.int))(() => 1),
      fails: mutation(t.nullable(t.int))(fails(new Error("no"))),
      sure: mutation(t.int)(fails(new Error("no"))),
      elsewhere: mutation(t.nullable(t.int))(fails(new GraphQLError("no", { path: ["other", "place"] }))),
      nowhere: mutation(t.nullable(t.int))(fails(new GraphQLError("no", { path: [] }))),
    },
  });

  it.each([
    ["mutation { ok }", "success"],
    ["{ ok }", "success"],
    ["mutation { ok fails }", "failure"],
    ["mutation { ok sure }", "failure"],
    ["mutation { ok nowhere }", "failure"],
    ["mutation { ok elsewhere }", "failure"],
  ])("of %s is %s", async (source, outcome) => {
    const { errors } = await ask(built, source);

    expect(log).toEqual([outcome]);
    expect(errors === undefined).toBe(outcome === "success");
  });

  it("is known to the fields, with the name and the cost of the operation", async () => {
    const facts = field(t.string, { params: { graph: GraphContext } })(
      ({ graph }) => `${graph.operationName} ${graph.cost}`,
    );
    const own = schema({ query: { facts } });
    const document = parse("query Named { facts }");

    const named = await runOperation(httpContext(), { schema: own, document, operationName: "Named", cost: 7 });
    const neither = await runOperation(httpContext(), { schema: own, document });

    expect(named).toMatchObject({ data: { facts: "Named 7" } });
    expect(neither).toMatchObject({ data: { facts: "null null" } });
  });

  it("runs the operation that is named, with its variables", async () => {
    const echo = field(t.int, { params: { n: t.int } })(({ n }) => n);
    const document = parse("query A($n: Int!) { echo(n: $n) } query B($n: Int!) { twice: echo(n: $n) }");

    const result = await runOperation(httpContext(), {
      schema: schema({ query: { echo } }),
      document,
      operationName: "B",
      variables: { n: 3 },
    });

    expect(result).toMatchObject({ data: { twice: 3 } });
  });
});

describe("a dependency that cannot be closed", () => {
  const broken = provide(async function* () {
    try {
      yield 1;
    } finally {
      // oxlint-disable-next-line no-unsafe-finally -- so a commit fails
      throw "a text"; // oxlint-disable-line typescript/only-throw-error -- a dependency may throw anything
    }
  });
  const built = schema({
    query: { n: field(t.int, { params: { broken: Depend(broken) } })(() => 1) },
    mutation: {
      n: mutation(t.nullable(t.int), { params: { broken: Depend(broken) } })(() => 1),
      fails: mutation(t.nullable(t.int))(fails(new Error("first"))),
    },
  });

  it("takes the data away and adds its error to those of the fields", async () => {
    const { data, errors } = await ask(built, "mutation { n fails }");

    expect(data).toBeNull();
    expect(errors?.map(({ message }) => message)).toEqual(["first", "The operation could not be completed"]);
    expect(errors?.[1]?.originalError?.message).toBe("a text");
    expect((await ask(built, "{ n }")).errors).toHaveLength(1);
  });
});

async function errorOf(result: unknown): Promise<unknown> {
  try {
    return await result;
  } catch (error) {
    return error;
  }
}
