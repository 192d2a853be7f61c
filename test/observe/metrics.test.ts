import { sql } from "kysely";
import { Metrics, memoryStores, NotFound, PorticoApp } from "portico";
import { field, Graph, schema, t } from "portico/graphql";
import { openDatabase } from "portico/sql";
import { manualClock, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openApp, openSchema } from "../graphql/endpoint/open.ts";
import { good, operation } from "../graphql/hooks/operation.ts";
import { UNSHED } from "../graphql/hooks/timed.ts";
import { heapAfterCollection } from "../heap-after-collection.ts";

/** An endpoint that counts, on a clock that its field `wait` moves. */
async function counted() {
  const clock = manualClock();
  const metrics = new Metrics();
  const wait = field(t.string, { params: { ms: t.int } })(({ ms }) => {
    clock.advance(ms);
    return "waited";
  });
  const fails = field(t.nullable(t.string))(() => {
    throw new Error("no");
  });
  const hello = field(t.string)(() => "world");
  const { client, graph } = await openSchema(
    schema({ query: { wait, fails, hello } }),
    { limits: { aliases: 1 } },
    { clock },
  );
  graph.onOperation(metrics);
  const ask = (query: string) => client.post("/graphql", { body: { query } });
  return { ask, metrics };
}

describe("Metrics", () => {
  it("[MET-01] [EVT-07] is a hook that counts operations by name", async () => {
    const { ask, metrics } = await counted();

    await ask("query A { hello }");
    await ask("query B { hello }");

    expect(Object.keys(metrics.snapshot())).toEqual(["A", "B"]);
    expect(metrics.snapshot()["A"]).toMatchObject({ count: 1, errors: 0 });
  });

  it("[MET-02] [MET-03] counts operations, and those that produced errors", async () => {
    const { ask, metrics } = await counted();

    await ask("query A { hello }");
    await ask("query A { fails x: fails }");
    await ask("query A { hello }");

    expect(metrics.snapshot()["A"]).toMatchObject({ count: 3, errors: 1 });
  });

  it("[MET-04] [MET-05] has the mean and the longest duration in seconds", async () => {
    const { ask, metrics } = await counted();

    await ask("query A { wait(ms: 3000) }");
    await ask("query A { wait(ms: 1000) }");

    expect(metrics.snapshot()["A"]).toMatchObject({ average_seconds: 2, slowest_seconds: 3 });
  });

  it("[MET-06] has the mean cost", async () => {
    const { ask, metrics } = await counted();

    await ask("query A { hello hello }");
    await ask("query A { hello hello hello hello }");

    expect(metrics.snapshot()["A"]).toMatchObject({ average_cost: 3 });
  });

  it("[MET-07] keeps five figures per name", async () => {
    const { ask, metrics } = await counted();

    await ask("query A { hello }");

    expect(Object.keys(metrics.snapshot()["A"] ?? {}).toSorted()).toEqual([
      "average_cost",
      "average_seconds",
      "count",
      "errors",
      "slowest_seconds",
    ]);
  });

  it("[MET-08] clears everything when it is reset", async () => {
    const { ask, metrics } = await counted();
    await ask("query A { hello }");

    metrics.reset();

    expect(metrics.snapshot()).toEqual({});
  });

  it("[MET-09] keeps its totals in memory, and writes nothing to the stores", async () => {
    const stores = memoryStores();
    const writes = [
      vi.spyOn(stores.durable, "set"),
      vi.spyOn(stores.counters, "increment"),
      vi.spyOn(stores.bus, "publish"),
    ];
    const metrics = new Metrics();
    const { client, graph } = await openSchema(
      schema({ query: { hello: field(t.string)(() => "world") } }),
      {},
      { stores },
    );
    graph.onOperation(metrics);

    await client.post("/graphql", { body: { query: "query A { hello }" } });

    expect(metrics.snapshot()["A"]?.count).toBe(1);
    for (const write of writes) expect(write).not.toHaveBeenCalled();
    expect(new Metrics().snapshot()).toEqual({});
  });

  it("[MET-10] counts a rejected operation under its name if that has a row", async () => {
    const { ask, metrics } = await counted();

    await ask("query A { hello }");
    await ask("query A { x: hello y: hello }");
    await ask("query B { x: hello y: hello }");

    expect(metrics.snapshot()).toMatchObject({ A: { count: 2, errors: 1 }, "<rejected>": { count: 1, errors: 1 } });
    expect(Object.keys(metrics.snapshot())).toEqual(["A", "<rejected>"]);
  });

  it("[MET-06] has the mean of the costs that were measured, those over the budget included", async () => {
    const metrics = new Metrics();
    const dear = field(t.string, { cost: 4 })(() => "dear");
    const { client, graph } = await openSchema(schema({ query: { dear } }), { limits: { cost: 5 } });
    graph.onOperation(metrics);

    await client.post("/graphql", { body: { query: "query Over { dear }" } });
    await client.post("/graphql", { body: { query: "query Over { dear x: dear }", operationName: "Over" } });
    await client.post("/graphql", { body: { query: "query Over { nope }", operationName: "Over" } });

    expect(metrics.snapshot()).toMatchObject({ Over: { count: 3, errors: 2, average_cost: 6 } });
  });

  it("[OPC-10] [MET-10] counts unnamed operations under <anonymous>, and rejected ones without a row under <rejected>", async () => {
    const { ask, metrics } = await counted();

    await ask("{ hello }");
    await ask("{ hello hello }");
    await ask("query Aliased { x: hello y: hello }");
    await ask("query Invalid { nope }");
    await ask("query Broken { hello");

    await ask("{ x: hello y: hello }");

    expect(Object.keys(metrics.snapshot())).toEqual(["<anonymous>", "<rejected>"]);
    expect(metrics.snapshot()).toMatchObject({
      "<anonymous>": { count: 2, errors: 0 },
      "<rejected>": { count: 4, errors: 4 },
    });
  });

  it("[MET-11] has at most 1,000 names, and counts further ones under <other>", async () => {
    const metrics = new Metrics();
    const hello = schema({ query: { hello: field(t.string)(() => "world") } });
    const { client, graph } = await openSchema(hello, { transport: { batch: 1_010 } }, UNSHED);
    graph.onOperation(metrics);
    const named = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({ query: `query N${from + n} { hello }` }));

    await client.post("/graphql", { body: [{ query: "{ hello }" }, ...named(0, 1_000)] });
    expect(metrics.snapshot()["<other>"]).toBeUndefined();
    await client.post("/graphql", { body: [...named(1_000, 5), ...named(0, 2)] });

    const rows = metrics.snapshot();
    expect(Object.keys(rows)).toHaveLength(1_002);
    expect([rows["<other>"]?.count, rows["N0"]?.count, rows["N1000"]]).toEqual([5, 2, undefined]);
  });

  it("[LIM-04] uses as much memory after 400,000 operations as after the first", async () => {
    const metrics = new Metrics();
    const count = (times: number): void => {
      for (let n = 0; n < times; n++)
        metrics.onOperation(good, operation({ operationName: "A", durationSeconds: n / 7, cost: n }));
    };
    count(1_000);
    const first = await heapAfterCollection();

    count(399_000);

    const grown = (await heapAfterCollection()) - first;
    expect(metrics.snapshot()["A"]?.count).toBe(400_000);
    // One number per operation would take 3,200 kB.
    expect(grown).toBeLessThan(800_000);
  });

  it("[MET-11] [LIM-04] counts a name of more than 200 characters under <other>, because a name may be a megabyte long", async () => {
    const { ask, metrics } = await counted();
    const [long, longest] = ["N".repeat(201), "N".repeat(200)];

    await ask(`query ${long} { hello }`);
    await ask(`query ${longest} { hello }`);

    expect(Object.keys(metrics.snapshot())).toEqual(["<other>", longest]);
  });

  it("counts anew after a reset, up to as many names as before", () => {
    const metrics = new Metrics();
    const fill = () => {
      for (let n = 0; n < 1_001; n++) metrics.onOperation(good, operation({ operationName: `N${n}` }));
      return Object.keys(metrics.snapshot());
    };
    const before = fill();

    metrics.reset();

    expect(fill()).toEqual(before);
    expect(before).toHaveLength(1_001);
  });

  it("accepts names of object members as operation names", () => {
    const metrics = new Metrics();

    for (const name of ["constructor", "__proto__", "toString"])
      metrics.onOperation(good, operation({ operationName: name }));

    expect(Object.keys(metrics.snapshot())).toEqual(["constructor", "__proto__", "toString"]);
  });
});

describe("the route of the metrics", () => {
  it("[MRT-01] is a route of the application", async () => {
    const metrics = new Metrics();
    const app = new PorticoApp({ logger: false }).get("/m", {}, () => metrics.snapshot());
    new Graph(schema({ query: { hello: field(t.string)(() => "world") } })).onOperation(metrics).mount(app);
    const client = await openApp(app);
    await client.post("/graphql", { body: { query: "query A { hello }" } });

    const answer = await client.get("/m");

    expect(answer.json()).toEqual(JSON.parse(JSON.stringify(metrics.snapshot())));
    expect(answer.json()).toMatchObject({ A: { count: 1 } });
  });

  it("[MRT-02] does not exist unless the application adds one", async () => {
    const build = (withMetrics: boolean): PorticoApp => {
      const app = new PorticoApp({ logger: false });
      const graph = new Graph(schema({ query: { hello: field(t.string)(() => "world") } })).mount(app);
      if (withMetrics) graph.onOperation(new Metrics());
      // Routes are registered in Fastify only for an application that uses it.
      app.engine.addHook("onRequest", async () => {});
      return app;
    };
    const [plain, measured] = [build(false), build(true)];
    const client = await openApp(measured);
    await openApp(plain);

    const answer = await client.get("/metrics");

    expect(answer.status).toBe(404);
    expect(measured.engine.printRoutes()).toContain("graphql");
    expect(measured.engine.printRoutes()).toBe(plain.engine.printRoutes());
  });
});

describe("the figures", () => {
  it("have percentiles that are at most 5 % off, and the slowest", () => {
    const metrics = new Metrics();
    for (let ms = 1; ms <= 1_000; ms++)
      metrics.onOperation(good, operation({ operationName: "A", durationSeconds: ms / 1_000 }));

    const { A } = metrics.figures().operations;

    expect(A).toMatchObject({ count: 1_000, slowest_seconds: 1 });
    for (const [share, seconds] of [
      [0.5, A?.p50_seconds],
      [0.95, A?.p95_seconds],
      [0.99, A?.p99_seconds],
    ] as const)
      expect(Math.abs((seconds ?? 0) / share - 1)).toBeLessThan(0.051);
  });

  it.each([0, 0.000_001, 3_600])("have the one duration of %d s as every percentile, at most", (durationSeconds) => {
    const metrics = new Metrics();
    metrics.onOperation(good, operation({ operationName: "A", durationSeconds }));

    const { A } = metrics.figures().operations;

    expect(A?.p99_seconds).toBeLessThanOrEqual(durationSeconds);
    expect(A?.p50_seconds).toBe(A?.p99_seconds);
  });

  it("count routes by status, and their open sockets", () => {
    const metrics = new Metrics();
    const request = {
      kind: "response",
      method: "GET",
      route: "/books/:id",
      status: 200,
      durationSeconds: 1,
      code: null,
      correlationId: null,
    } as const;
    for (const status of [200, 204, 304, 400, 499, 500, 503]) metrics.onRequest({ ...request, status });
    metrics.onRequest({ ...request, method: "BREW", route: null, status: 404 });
    for (const kind of ["socket-opened", "socket-opened", "socket-closed"] as const)
      metrics.onRequest({ ...request, kind, route: "/live", status: 101 });

    expect(metrics.figures().routes).toMatchObject({
      "GET /books/:id": { count: 7, errors: 2, refused: 2, average_seconds: 1, slowest_seconds: 1, open_sockets: 0 },
      "<none>": { count: 1, errors: 0, refused: 1 },
      "SOCKET /live": { count: 2, average_seconds: 0, slowest_seconds: 0, open_sockets: 1 },
    });
    metrics.reset();
    metrics.onRequest({ ...request, kind: "socket-closed", route: "/live", status: 101 });
    expect(metrics.figures().routes["SOCKET /live"]?.open_sockets).toBe(0);
  });

  it("count errors by code, with the correlation id of the last one", async () => {
    const metrics = new Metrics();
    const fails = field(t.nullable(t.string))(() => {
      throw new Error("no disk");
    });
    const app = new PorticoApp({ logger: false }).onRequest(metrics);
    app.get("/fails", () => {
      throw new Error("no disk");
    });
    app.get("/answers", ({ response }) => response.status(502).text("bad gateway"));
    app.get("/missing", () => {
      throw new NotFound();
    });
    new Graph(schema({ query: { fails } })).onOperation(metrics).mount(app);
    const client = testClient(app);
    const problem = (await client.get("/fails")).json() as { readonly correlation_id: string };
    for (const path of ["/answers", "/missing"]) await client.get(path);
    await client.post("/graphql", { body: { query: "{ fails }" } });
    const answer = await client.post("/graphql", { body: { query: "{ fails }" } });
    const [error] = (answer.json() as { readonly errors: readonly { extensions: { correlationId: string } }[] }).errors;
    const docs = expect.stringMatching(/docs\/errors\.md#INTERNAL_SERVER_ERROR$/);

    expect(metrics.figures().errors).toEqual({
      operations: {
        INTERNAL_SERVER_ERROR: { count: 2, correlation_id: error?.extensions.correlationId, docs },
      },
      routes: {
        INTERNAL_SERVER_ERROR: { count: 1, correlation_id: problem.correlation_id, docs },
        "<response>": { count: 1, correlation_id: null, docs: null },
      },
    });
    metrics.reset();
    expect(metrics.figures().errors).toEqual({ operations: {}, routes: {} });
  });

  it("have a bounded number of codes, because an application may invent them", () => {
    const metrics = new Metrics();
    for (let at = 0; at < 150; at++)
      metrics.onOperation(
        { data: null, ok: false, errors: [{ extensions: { code: `E${at}`, correlationId: "id" } }] } as never,
        operation({ operationName: "A" }),
      );

    const codes = metrics.figures().errors.operations;
    expect(Object.keys(codes)).toHaveLength(101);
    expect(codes["<other>"]).toEqual({ count: 50, correlation_id: "id", docs: null });
  });

  it("list faults first, then what is in use of each limit", async () => {
    const metrics = new Metrics();
    const database = openDatabase("sqlite::memory:");
    let isUp = true;
    const check = (): void => {
      if (!isUp) throw new Error("down");
    };
    const app = new PorticoApp({ logger: false, load: { maxInFlight: 50 }, health: { checks: { search: check } } });
    app.onRequest(metrics).onClose(() => database.destroy());
    app.post("/notes", async () => void (await sql`create table if not exists notes (id integer)`.execute(database)));
    const client = testClient(app);
    onTestFinished(() => app.close());
    const named = (name: string) => metrics.figures().saturation.find((row) => row.name === name);

    await client.post("/notes");
    await client.get("/readyz");

    expect(named("Requests in flight")).toEqual({ name: "Requests in flight", value: 0, limit: 50, state: "ok" });
    expect(named("Connections to :memory:")).toMatchObject({ value: 0, limit: 1, state: "ok" });
    expect(named("Check search")).toBeUndefined();
    isUp = false;
    await client.get("/readyz");
    expect(metrics.figures().saturation[0]).toEqual({ name: "Check search", value: 0, limit: 1, state: "failed" });
  });

  it("are high while callers wait for a transaction", async () => {
    const metrics = new Metrics();
    const database = openDatabase("sqlite::memory:");
    const app = new PorticoApp({ logger: false }).onRequest(metrics);
    app.onClose(() => database.destroy());
    app.post("/notes", async () => {
      const trx = await database.begin();
      const waiting = database.begin();
      const [row] = metrics.figures().saturation.filter(({ name }) => name === "Transactions on :memory:");
      await trx.end("failure");
      await (await waiting).end("failure");
      return row;
    });
    const client = testClient(app);
    onTestFinished(() => app.close());

    expect((await client.post("/notes")).json()).toMatchObject({ value: 1, limit: 1, state: "high" });
  });
});
