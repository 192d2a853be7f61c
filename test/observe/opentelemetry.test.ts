import { setTimeout as sleep } from "node:timers/promises";
import { context, type HrTime, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { sql } from "kysely";
import { ConfigurationError, type Middleware, type OperationTracer, opentelemetry, PorticoApp } from "portico";
import { field, Graph, type GraphOptions, schema, t } from "portico/graphql";
import { openDatabase } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { filesBelow, read } from "../../scripts/package/repository.ts";
import { openApp, openSchema } from "../graphql/endpoint/open.ts";
import { timed } from "../graphql/hooks/timed.ts";

const manager = new AsyncLocalStorageContextManager();
beforeAll(() => void context.setGlobalContextManager(manager.enable()));
afterAll(() => context.disable());

/** The real thing, its spans kept in memory. */
function recording() {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const spans = (): readonly ReadableSpan[] => exporter.getFinishedSpans();
  return { tracer: provider.getTracer("test"), spans };
}
const ms = ([seconds, nanos]: HrTime): number => seconds * 1_000 + nanos / 1e6;

describe.each([
  ["back-dated", false],
  ["active", true],
] as const)("a span, %s", (_form, active) => {
  it("[EVT-17] is created for each operation: in a batch, failing, rejected", async () => {
    const { tracer, spans } = recording();
    const { ask } = await timed([opentelemetry(tracer, { active })]);

    await ask([{ query: "query A { hello }" }, { query: "query B { hello }" }]);
    await ask("mutation C { write(ms: 1) }");
    await ask("{ nope");

    expect(spans().map(({ name }) => name)).toEqual(["query", "query", "mutation", "GraphQL Operation"]);
  });

  it("[EVT-18] [EVT-19] [EVT-20] has name, errors and cost", async () => {
    const { tracer, spans } = recording();
    const { ask } = await timed([opentelemetry(tracer, { active })]);

    await ask("query Shelf { dear hello }");
    await ask("query Broken { fails again: fails }");

    expect(spans().map(({ attributes }) => attributes)).toEqual([
      { "graphql.operation.name": "Shelf", "graphql.operation.type": "query", "graphql.errors": 0, "graphql.cost": 7 },
      { "graphql.operation.name": "Broken", "graphql.operation.type": "query", "graphql.errors": 2, "graphql.cost": 2 },
    ]);
  });

  it("names an unnamed operation <anonymous>, and has no cost for one that was not measured", async () => {
    const { tracer, spans } = recording();
    const { ask } = await timed([opentelemetry(tracer, { active })], { limits: { cost: null } });

    await ask("{ hello }");
    await ask("{ nope");

    expect(spans().map(({ attributes }) => attributes)).toEqual([
      { "graphql.operation.name": "<anonymous>", "graphql.operation.type": "query", "graphql.errors": 0 },
      { "graphql.operation.name": "<anonymous>", "graphql.errors": 1 },
    ]);
  });

  it("is marked as an error for a fault of the server, not for one of the client", async () => {
    const { tracer, spans } = recording();
    const { ask } = await timed([opentelemetry(tracer, { active })]);

    for (const query of ["{ hello }", "{ nope }", "{ fails }"]) await ask(query);

    const { ERROR, UNSET } = SpanStatusCode;
    expect(spans().map(({ status }) => status.code)).toEqual([UNSET, UNSET, ERROR]);
  });

  it("has the span of the active context as its parent", async () => {
    const { tracer, spans } = recording();
    const parent = tracer.startSpan("request");
    const inside: Middleware = (_ctx, next) => context.with(trace.setSpan(context.active(), parent), next);
    const { ask } = await timed([opentelemetry(tracer, { active })], { middleware: [inside] });

    await ask("query Shelf { hello }");

    expect(spans()).toHaveLength(1);
    expect(spans()[0]?.parentSpanContext?.spanId).toBe(parent.spanContext().spanId);
    expect(spans()[0]?.spanContext().traceId).toBe(parent.spanContext().traceId);
  });

  it("[EVT-21] takes as long as the operation really took", async () => {
    const { tracer, spans } = recording();
    const took: number[] = [];
    const slow = field(t.string)(async () => {
      await sleep(60);
      return "slow";
    });
    const { client, graph } = await openSchema(schema({ query: { slow } }));
    graph
      .onOperation(opentelemetry(tracer, { active }))
      .onOperation((_result, { durationSeconds }) => void took.push(durationSeconds * 1000));
    const before = Date.now();

    await client.post("/graphql", { body: { query: "{ slow }" } });

    const [span] = spans();
    if (span === undefined) throw new Error("no span");
    // An active span ends later than the operation, by as much as the machine is busy.
    expect(Math.abs(ms(span.duration) - (took[0] ?? 0))).toBeLessThan(active ? Infinity : 1);
    expect(ms(span.duration)).toBeGreaterThan(55);
    expect(ms(span.startTime)).toBeGreaterThan(before - 5);
    expect(ms(span.endTime)).toBeLessThan(Date.now() + 5);
  });
});

describe("the spans of a request", () => {
  it("are the parents of those of its operation and its statements, if they are active", async () => {
    const { tracer, spans } = recording();
    const hook = opentelemetry(tracer, { active: true });
    const database = openDatabase("sqlite::memory:", { onStatement: hook.onStatement });
    const book = field(t.string)(async () => {
      await sql`select 1`.execute(database);
      return "Emma";
    });
    const app = new PorticoApp({ logger: false }).onRequest(hook).onClose(() => database.destroy());
    new Graph(schema({ query: { book } })).onOperation(hook).mount(app);
    const client = await openApp(app);

    await client.post("/graphql", { body: { query: "query Book { book }" } });

    await expect.poll(() => spans().map(({ name }) => name)).toEqual(["select", "query", "POST /graphql"]);
    const [statement, query, request] = spans();
    expect(statement?.attributes).toEqual({ "db.query.text": "select 1" });
    expect(statement?.parentSpanContext?.spanId).toBe(query?.spanContext().spanId);
    expect(query?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
    expect(request?.attributes).toEqual({
      "http.request.method": "POST",
      "http.response.status_code": 200,
      "http.route": "/graphql",
    });
  });

  it("are named after the route, and marked as an error for a fault of the server", async () => {
    const { tracer, spans } = recording();
    const app = new PorticoApp({ logger: false }).onRequest(opentelemetry(tracer));
    app.get("/books/:id", () => {
      throw new Error("no");
    });
    app.socket("/live", ({ socket }) => socket.close());
    const client = await openApp(app);

    await client.get("/books/7");
    await client.get("/nothing");
    await (await client.socket("/live")).closed;

    const { ERROR, UNSET } = SpanStatusCode;
    await expect
      .poll(() => spans().map(({ name, status }) => [name, status.code]))
      .toEqual([
        ["GET /books/:id", ERROR],
        ["GET", UNSET],
        ["GET /live", UNSET],
      ]);
  });
});

describe("a back-dated span", () => {
  it("[EVT-21] is created after the operation ran, with its true start, even if the wall clock was changed", async () => {
    const { tracer, spans } = recording();
    const begun: string[] = [];
    const watched: OperationTracer = {
      startSpan(...args) {
        begun.push("span");
        return tracer.startSpan(...args);
      },
    };
    const { ask, graph } = await timed([() => void begun.push("operation over")]);
    graph.onOperation(opentelemetry(watched));
    const now = vi.spyOn(Date, "now").mockReturnValue(1_700_000_000_000);

    await ask("query Shelf { wait(ms: 250) }");
    now.mockRestore();

    expect(begun).toEqual(["operation over", "span"]);
    const [span] = spans();
    expect(span?.duration).toEqual([0, 250_000_000]);
    expect([ms(span?.startTime ?? [0, 0]), ms(span?.endTime ?? [0, 0])]).toEqual([
      1_700_000_000_000 - 250,
      1_700_000_000_000,
    ]);
  });

  it("[EVT-22] needs only a plain object with the tracer's method, and no tracing library", async () => {
    const started: unknown[] = [];
    const ended: unknown[] = [];
    const plain = {
      startSpan(name: string, options?: object) {
        started.push([name, options]);
        return { end: (time?: number) => void ended.push(time) };
      },
    };
    const { ask, log } = await timed([opentelemetry(plain)]);

    await ask("query Shelf { dear fails }");

    expect(started).toMatchObject([
      ["query", { attributes: { "graphql.operation.name": "Shelf", "graphql.cost": 7 } }],
    ]);
    expect(ended).toEqual([expect.any(Number)]);
    expect(log.text).not.toContain("hook failed");
    const { dependencies, peerDependencies } = manifest;
    expect(Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => /telemetry|trac/.test(name))).toEqual(
      [],
    );
    const sources = await filesBelow("src", ".ts");
    const imports = sources.filter((file) => /^import .*@opentelemetry/m.test(read(file)));
    expect(imports).toEqual([]);
  });
});

describe("an active span", () => {
  /** A graph whose field opens a span, as a database's driver would. */
  async function withDatabase(options: GraphOptions = {}) {
    const { tracer, spans } = recording();
    const books = field(t.string)(async () => {
      await sleep(1);
      const span = tracer.startSpan("select");
      await sleep(1);
      span.end();
      return "Emma";
    });
    const { client, graph } = await openSchema(schema({ query: { books } }), options);
    return { client, graph, tracer, spans };
  }

  it("is the parent of the spans that its operation opens", async () => {
    const { client, graph, tracer, spans } = await withDatabase();
    graph.onOperation(opentelemetry(tracer, { active: true }));

    await Promise.all(
      ["A", "B"].map((name) => client.post("/graphql", { body: { query: `query ${name} { books }` } })),
    );

    const operations = spans().filter(({ name }) => name === "query");
    const parents = spans()
      .filter(({ name }) => name === "select")
      .map((span) => span.parentSpanContext?.spanId);
    expect(operations).toHaveLength(2);
    expect(new Set(parents)).toEqual(new Set(operations.map((span) => span.spanContext().spanId)));
    expect(new Set(parents).size).toBe(2);
  });

  it("is not their parent when back-dated: the driver's spans are its siblings", async () => {
    const { client, graph, tracer, spans } = await withDatabase();
    graph.onOperation(opentelemetry(tracer));

    await client.post("/graphql", { body: { query: "query A { books }" } });

    expect(spans().map(({ name, parentSpanContext }) => [name, parentSpanContext])).toEqual([
      ["select", undefined],
      ["query", undefined],
    ]);
  });
});

it.each([
  [() => opentelemetry({} as never), "startSpan"],
  [() => opentelemetry(undefined as never), "startSpan"],
  [() => opentelemetry({ startSpan: () => ({ end() {} }) } as never, { active: true }), "startActiveSpan"],
  [() => opentelemetry({ startSpan: () => ({ end() {} }) }, { activ: true } as never), 'Did you mean "active"'],
])("is refused where it is written: %#", (build, sentence) => {
  expect(build).toThrow(ConfigurationError);
  expect(build).toThrow(sentence);
});
