import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, opentelemetry } from "portico";
import {
  field,
  type Graph,
  type GraphOptions,
  Limits,
  type ObjectType,
  type OperationContext,
  OperationLog,
  type OperationResult,
  object,
  schema,
  t,
} from "portico/graphql";
import { describe, expect, expectTypeOf, it } from "vitest";
import { bodyOf, type GraphBody, openSchema } from "../endpoint/open.ts";

const Book: ObjectType<{ readonly title: string }> = object("Book", { title: t.string });
const query = {
  hello: field(t.string)(() => "world"),
  dear: field(t.string, { cost: 7 })(() => "dear"),
  fails: field(t.nullable(t.string))(() => {
    throw new Error("no");
  }),
  strict: field(Book)(() => {
    throw new Error("no");
  }),
};
type Call = readonly [result: OperationResult, context: OperationContext];

/** An endpoint whose hook keeps what it is called with. */
async function recorded(options: GraphOptions = {}) {
  const calls: Call[] = [];
  const { client, graph, log } = await openSchema(schema({ query }), options);
  graph.onOperation((...call) => void calls.push(call));
  const ask = async (body: unknown) => client.post("/graphql", { body });
  const called = async (body: unknown): Promise<Call> => {
    await ask(body);
    return calls.at(-1) as Call;
  };
  return { client, graph, log, calls, ask, called };
}

describe("a hook", () => {
  it("[EVT-01] is called once after every operation: successful, failing, rejected, each entry of a batch", async () => {
    const seen: string[] = [];
    const order = field(t.string)(async () => {
      seen.push("begun");
      await sleep(5);
      seen.push("done");
      return "x";
    });
    const { client, graph } = await openSchema(schema({ query: { ...query, order } }));
    graph.onOperation((_result, { operationName }) => void seen.push(operationName ?? "unnamed"));
    const ask = (body: unknown) => client.post("/graphql", { body });

    await ask({ query: "query Order { order }" });
    expect(seen).toEqual(["begun", "done", "Order"]);
    await ask({ query: "query Fails { fails }" });
    await ask({ query: "{ nope }" });
    await ask([{ query: "query One { hello }" }, { query: "query Two { fails }" }]);

    expect(seen.slice(3)).toEqual(["Fails", "unnamed", "One", "Two"]);
  });

  it("[EVT-02] is called with the result and the context, as a function and as a method", async () => {
    const { graph, ask, calls } = await recorded();
    const lengths: unknown[] = [];
    class Counter {
      readonly name = "counter";
      onOperation(...args: readonly unknown[]): void {
        lengths.push([this.name, args.length, ...args.map((arg) => Object.keys(arg as object).toSorted())]);
      }
    }
    graph.onOperation(new Counter());

    await ask({ query: "{ hello }" });

    expect(lengths).toEqual([
      [
        "counter",
        2,
        ["data", "errors", "ok"],
        [
          "cost",
          "durationSeconds",
          "extensions",
          "isRefused",
          "log",
          "operationName",
          "operationType",
          "started",
          "trace",
        ],
      ],
    ]);
    expect(calls).toHaveLength(1);
  });

  it("[EVT-03] [EVT-04] may be sync or async, and all of them run, though one fails", async () => {
    const { graph, ask, log } = await recorded();
    const seen: string[] = [];
    const finished = new Promise<void>((resolve) => {
      graph
        .onOperation(() => void seen.push("sync"))
        .onOperation(() => {
          throw new Error("a hook that throws");
        })
        .onOperation(async () => {
          throw new Error("a hook that rejects");
        })
        .onOperation(async () => {
          await sleep(20);
          seen.push("async");
          resolve();
        })
        .onOperation(() => void seen.push("last"));
    });

    const answer = await ask({ query: "{ hello }" });
    await finished;

    expect([answer.status, seen]).toEqual([200, ["sync", "last", "async"]]);
    expect(log.text).toContain("a hook that throws");
    expect(log.text).toContain("a hook that rejects");
  });

  it("[EVT-05] does not exist by default: nothing is logged about operations", async () => {
    const slow = field(t.nullable(t.string))(async () => {
      await sleep(30);
      throw new Error("slow and failing");
    });
    const { client, log } = await openSchema(schema({ query: { slow } }));
    log.clear();

    await client.post("/graphql", { body: { query: "query Slow { slow }" } });

    // The error of the field, which has its own line, and nothing beside it.
    expect(log.lines.filter(({ correlation_id }) => correlation_id === undefined)).toEqual([]);
    expect(log.lines).toHaveLength(1);
    expect(log.text).not.toContain("portico.graphql.operations");
  });

  it.each([undefined, null, 7, {}, { onOperation: "no" }])("is refused when it is %j", async (hook) => {
    const { graph } = await recorded();

    expect(() => graph.onOperation(hook as never)).toThrow("onOperation");
  });
});

it("is typed: the compiler rejects other values, and accepts hooks of other libraries", () => {
  const add = (graph: Graph): Graph =>
    graph
      // @ts-expect-error neither onOperation nor around
      .onOperation({})
      // @ts-expect-error no such method
      .onOperation({ onOperations: () => {} })
      .onOperation(new OperationLog(console, { errors: false }))
      .onOperation(opentelemetry({ startSpan: () => ({ end() {} }) }))
      // @ts-expect-error a span that is open meanwhile needs startActiveSpan
      .onOperation(opentelemetry({ startSpan: () => ({ end() {} }) }, { active: true }))
      .onOperation((result, context) => {
        expectTypeOf(context.cost).toEqualTypeOf<number | null>();
        expectTypeOf(result.ok).toEqualTypeOf<boolean>();
      });

  expectTypeOf(add).returns.toEqualTypeOf<Graph>();
});

describe("the result", () => {
  it("[OPC-01] has the data, or null when there is none", async () => {
    const { called } = await recorded();

    const [good] = await called({ query: "{ hello }" });
    const [none] = await called({ query: "{ hello strict { title } }" });
    const [refused] = await called({ query: "{ nope }" });

    expect([good.data, none.data, refused.data]).toEqual([{ hello: "world" }, null, null]);
  });

  it("[OPC-02] has the errors of the response", async () => {
    const { ask, calls } = await recorded();

    const answer = await ask({ query: "{ fails other: fails }" });

    expect(calls[0]?.[0].errors).toHaveLength(2);
    expect(calls[0]?.[0].errors).toEqual(bodyOf(answer).errors);
  });

  it("[OPC-03] is ok when there are no errors", async () => {
    const { called } = await recorded();

    const oks = [
      (await called({ query: "{ hello }" }))[0].ok,
      (await called({ query: "{ hello fails }" }))[0].ok,
      (await called({ query: "{ nope }" }))[0].ok,
    ];

    expect(oks).toEqual([true, false, false]);
  });
});

describe("the context", () => {
  const nameOf = async (body: unknown): Promise<string | null> => {
    const { called } = await recorded({ limits: { aliases: 1 } });
    return (await called(body))[1].operationName;
  };

  it("[OPC-04] [OPC-08] has the name of the one operation of the document", async () => {
    expect(await nameOf({ query: "query Shelf { hello }" })).toBe("Shelf");
    expect(await nameOf({ query: "query Shelf { hello ...F } fragment F on Query { dear }" })).toBe("Shelf");
  });

  it("[OPC-07] has the name in the request", async () => {
    expect(await nameOf({ query: "query A { hello } query B { dear }", operationName: "B" })).toBe("B");
  });

  it("[OPC-07] [OPC-08] has the name of a rejected operation too", async () => {
    expect(await nameOf({ query: "query A { hello } query B { nope }", operationName: "B" })).toBe("B");
    expect(await nameOf({ query: "query A { hello", operationName: "A" })).toBe("A");
    expect(await nameOf({ query: "query A { x: hello y: hello }" })).toBe("A");
  });

  it("[OPC-09] has no name in every other case", async () => {
    expect(await nameOf({ query: "{ hello }" })).toBeNull();
    expect(await nameOf({ query: "query A { hello } query B { dear }" })).toBeNull();
    expect(await nameOf({ query: "{ hello }", operationName: "no name\u0000" })).toBeNull();
  });

  it("[OPC-05] has the cost in the response", async () => {
    const { ask, calls } = await recorded();

    const answer = await ask([{ query: "{ dear }" }, { query: "{ hello dear }" }]);

    const costs = (answer.json() as readonly GraphBody[]).map(({ extensions }) => extensions?.cost?.["cost"]);
    expect(costs).toEqual([7, 8]);
    expect(calls.map(([, { cost }]) => cost)).toEqual(costs);
  });

  it("[OPC-05] has the cost of an operation that is rejected for it, as the response does", async () => {
    const { ask, calls } = await recorded({ limits: { cost: 10 } });

    const answer = bodyOf(await ask({ query: "{ dear hello x: dear }" }));

    expect(answer.errors?.[0]?.extensions.code).toBe("COST_LIMIT_EXCEEDED");
    expect(answer.extensions?.cost).toEqual({ depth: 1, cost: 15, aliases: 1, breadth: 3, fields: 3 });
    expect(calls.map(([, { cost, isRefused }]) => [cost, isRefused])).toEqual([[15, true]]);
  });

  it("has the extensions of the request, also of a rejected one, and none of one that could not be read", async () => {
    const { called } = await recorded();
    const extensions = { client: "web", trace: { id: 7 } };

    expect((await called({ query: "{ hello }", extensions }))[1].extensions).toEqual(extensions);
    expect((await called({ query: "{ nope }", extensions }))[1].extensions).toEqual(extensions);
    expect((await called([{ query: "{ hello }" }]))[1].extensions).toEqual({});
    expect((await called([{ query: "{ hello }", extensions: 7 }]))[1].extensions).toEqual({});
  });

  it("[OPC-11] has no cost while cost analysis is off", async () => {
    const { called } = await recorded({ limits: new Limits({ cost: null }) });

    expect((await called({ query: "{ dear }" }))[1].cost).toBeNull();
  });

  it("[OPC-06] has the start on the monotonic clock", async () => {
    const time = { wall: 1_000_000, monotonic: 5_000 };
    const clock: Clock = { now: () => time.wall, monotonic: () => time.monotonic };
    const slow = field(t.string)(() => {
      time.wall -= 3_600_000;
      time.monotonic += 250;
      return "slow";
    });
    const calls: Call[] = [];
    const { client, graph } = await openSchema(schema({ query: { slow } }), {}, { clock });
    graph.onOperation((...call) => void calls.push(call));

    await client.post("/graphql", { body: { query: "{ slow }" } });

    const [, context] = calls[0] as Call;
    expect([context.started, clock.monotonic() - context.started, context.durationSeconds]).toEqual([5_000, 250, 0.25]);
  });
});
