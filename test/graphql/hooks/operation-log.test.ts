import { ConfigurationError, PorticoApp } from "portico";
import { field, Graph, Limits, OperationLog, type OperationLogOptions, schema, t } from "portico/graphql";
import { logCatcher } from "portico/testing";
import { describe, expect, it, vi } from "vitest";

import { bodyOf, openApp, verdictOf } from "../endpoint/open.ts";
import { good, operation } from "./operation.ts";
import { timed } from "./timed.ts";

const NAME = "portico.graphql.operations";

/** An endpoint with an `OperationLog`, and the lines that it has written. */
async function logged(options?: OperationLogOptions, limits?: Limits) {
  const served = await timed([new OperationLog(options)], limits === undefined ? {} : { limits });
  const lines = () => served.log.lines.filter(({ name }) => name === NAME);
  return { ...served, lines, sentences: () => lines().map(({ msg }) => msg) };
}

describe("a line of the operation log", () => {
  it("[EVT-08] [EVT-09] is a warning under the logger's name", async () => {
    const { ask, lines } = await logged({ slowerThan: 0 });

    await ask("query Shelf { hello }");

    expect(lines()).toEqual([expect.objectContaining({ level: "warn", name: NAME })]);
  });

  it("[EVT-11] [EVT-12] has name, duration in milliseconds, cost and errors, as text and as details", async () => {
    const { ask, lines } = await logged({ slowerThan: 0 });

    await ask("query Shelf { wait(ms: 250) dear }");
    await ask("query Broken { dear fails }");

    expect(lines().map(({ msg }) => msg)).toEqual([
      "Shelf took 250 ms, cost=7 errors=0",
      "Broken took 0 ms, cost=7 errors=1",
    ]);
    expect(lines()[0]).toMatchObject({ operation: "Shelf", duration_ms: 250, cost: 7, errors: 0 });
  });

  it("[EVT-24] [graphql:E27] says cost=- while cost analysis is off, and the other limits stay", async () => {
    const limits = new Limits({ cost: null, depth: 1, aliases: 1 });
    const costs: unknown[] = [];
    const { ask, graph, sentences } = await logged({ slowerThan: 0 }, limits);
    graph.onOperation((_result, { cost }) => void costs.push(cost));

    const answer = await ask("query Shelf { dear }");
    const refused = await ask("query Aliased { a: dear b: dear }");

    expect(sentences()).toEqual(["Shelf took 0 ms, cost=- errors=0", "Aliased took 0 ms, cost=- errors=1"]);
    expect(costs).toEqual([null, null]);
    expect(bodyOf(answer).extensions).toBeUndefined();
    expect(verdictOf(refused)).toEqual([400, "ALIAS_LIMIT_EXCEEDED"]);
  });

  it("names an unnamed operation as the metrics do, and shortens a long name", async () => {
    const { ask, sentences } = await logged({ slowerThan: 0 });

    await ask("{ hello }");
    await ask(`query ${"N".repeat(5_000)} { hello }`);

    expect(sentences()).toEqual([
      "<anonymous> took 0 ms, cost=1 errors=0",
      `${"N".repeat(200)}... took 0 ms, cost=1 errors=0`,
    ]);
  });
});

describe("the operation log contains", () => {
  it("[EVT-13] operations that took longer than slowerThan, in seconds, and no others", async () => {
    const { ask, sentences } = await logged({ slowerThan: 0.5 });

    for (const ms of [400, 500, 600]) await ask(`query Wait${ms} { wait(ms: ${ms}) }`);

    expect(sentences()).toEqual(["Wait600 took 600 ms, cost=1 errors=0"]);
  });

  it("[EVT-14] all operations with slowerThan 0", async () => {
    const { ask, sentences } = await logged({ slowerThan: 0 });

    await ask("query Quick { hello }");

    expect(sentences()).toHaveLength(1);
  });

  it("[EVT-15] operations with errors, however fast, including rejected ones and entries of a batch", async () => {
    const { ask, sentences } = await logged({ slowerThan: 10 });

    await ask("query Failing { fails }");
    await ask("query Refused { nope }");
    await ask([{ query: "query First { hello }" }, { query: "query Second { fails }" }]);

    expect(sentences().map((sentence) => sentence.split(" ", 1)[0])).toEqual(["Failing", "Refused", "Second"]);
  });

  it("[EVT-16] operations with errors only when they are slow, with errors: false", async () => {
    const { ask, sentences } = await logged({ slowerThan: 10, errors: false });

    await ask("query Failing { fails }");
    await ask("query Slow { wait(ms: 11000) fails }");

    expect(sentences()).toEqual(["Slow took 11000 ms, cost=2 errors=1"]);
  });

  it("no subscription that was open for long, unless everything is logged", () => {
    const long = operation({ operationName: "Live", operationType: "subscription", durationSeconds: 3_600 });
    const [some, all] = [{ warn: vi.fn<() => void>() }, { warn: vi.fn<() => void>() }];

    new OperationLog(some, { slowerThan: 1 }).onOperation(good, long);
    new OperationLog(all, { slowerThan: 0 }).onOperation(good, long);

    expect([some.warn.mock.calls.length, all.warn.mock.calls.length]).toEqual([0, 1]);
  });
});

describe("the logger", () => {
  it("[EVT-06] [EVT-10] is the first argument: pino's takes the details first", async () => {
    const other = logCatcher();
    const { log: pino } = new PorticoApp({ logger: other });
    const { ask, log } = await timed([new OperationLog(pino, { slowerThan: 0 })]);

    await ask("query Shelf { hello }");

    expect(other.lines).toEqual([
      expect.objectContaining({ level: "warn", msg: "Shelf took 0 ms, cost=1 errors=0", operation: "Shelf" }),
    ]);
    expect(log.text).not.toContain(NAME);
  });

  it("[EVT-06] [EVT-10] may be any object with warn, such as the console, which prints the message first", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const { ask, log } = await timed([new OperationLog(console, { slowerThan: 0 })]);

    await ask("query Shelf { hello }");

    expect(warn.mock.calls).toEqual([
      ["Shelf took 0 ms, cost=1 errors=0", { operation: "Shelf", duration_ms: 0, cost: 1, errors: 0 }],
    ]);
    expect(log.text).not.toContain(NAME);
    warn.mockRestore();
  });

  it("[EVT-06] may be omitted, with or without options", async () => {
    const { ask, log } = await timed([new OperationLog(), new OperationLog({ slowerThan: 0.1 })]);

    await ask("query Half { wait(ms: 500) }");
    await ask("query Long { wait(ms: 1001) }");

    // A second unless said otherwise: only the second hook takes half a second for slow.
    expect(log.lines.filter(({ name }) => name === NAME).map(({ operation: name }) => name)).toEqual([
      "Half",
      "Long",
      "Long",
    ]);
  });

  it("may be off: nothing is written, and nothing fails", async () => {
    const failed = vi.fn<() => void>();
    const app = new PorticoApp({ logger: false });
    const hook = new OperationLog({ slowerThan: 0, trace: true });
    const guarded = {
      traces: true,
      onOperation: (...end: Parameters<OperationLog["onOperation"]>) => {
        try {
          hook.onOperation(...end);
        } catch {
          failed();
        }
      },
    };
    new Graph(schema({ query: { hello: field(t.string)(() => "world") } })).onOperation(guarded).mount(app);
    const client = await openApp(app);

    const answer = await client.post("/graphql", { body: { query: "{ hello }" } });

    expect(answer.status).toBe(200);
    expect(failed).not.toHaveBeenCalled();
  });

  it("is that of the application that received the operation, for one hook on two applications", async () => {
    const hook = new OperationLog({ slowerThan: 0 });
    const hello = schema({ query: { hello: field(t.string)(() => "world") } });
    const logs = [logCatcher(), logCatcher()];
    for (const [index, logger] of logs.entries()) {
      const app = new PorticoApp({ logger });
      new Graph(hello).onOperation(hook).mount(app);
      const client = await openApp(app);
      await client.post("/graphql", { body: { query: `query App${index} { hello }` } });
    }

    expect(logs.map(({ lines }) => lines.flatMap(({ operation: name }) => name ?? []))).toEqual([["App0"], ["App1"]]);
  });

  it.each([
    [() => new OperationLog({ slowerThan: -1 }), "OperationLog.slowerThan"],
    [() => new OperationLog({ errors: 1 as never }), "OperationLog.errors"],
    [() => new OperationLog({ slower: 1 } as never), "OperationLog.slower"],
    [() => new OperationLog({ warn: "loudly" } as never), "OperationLog logger"],
    [() => new OperationLog({ info: () => {} } as never, {}), "OperationLog logger"],
    [() => new OperationLog(7 as never), "OperationLog options"],
  ])("is refused, like its options, where it is written: %#", (build, option) => {
    expect(build).toThrow(expect.objectContaining({ name: ConfigurationError.name, option }));
  });
});
