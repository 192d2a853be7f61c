import { sql } from "kysely";
import { ConfigurationError, HttpException, PorticoApp, prometheus } from "portico";
import { useAuth } from "portico/auth";
import { field, Graph, schema, t } from "portico/graphql";
import { openDatabase } from "portico/sql";
import { describe, expect, it } from "vitest";
import { openApp } from "../graphql/endpoint/open.ts";
import { good, operation } from "../graphql/hooks/operation.ts";
import { timed } from "../graphql/hooks/timed.ts";
import { familiesIn, samplesIn } from "./parse-prometheus.ts";

const DURATION = "portico_graphql_operation_duration_seconds";
const REQUESTS = "portico_http_request_duration_seconds";
const ERRORS = "portico_graphql_operation_errors_total";

/** The values of one metric by its labels: `Shelf query`, and the bound of a bucket. */
function valuesOf(text: string, metric: string): Readonly<Record<string, number>> {
  const samples = samplesIn(text).filter(({ name }) => name === metric);
  return Object.fromEntries(
    samples.map(({ labels: { operation: name, type, le }, value }) => [[name, type, le ?? []].flat().join(" "), value]),
  );
}
const labelsIn = (text: string): readonly string[] => Object.keys(valuesOf(text, `${DURATION}_count`));

describe("the text that Prometheus reads", () => {
  it("has a histogram of durations, by operation and type, whose buckets add up", async () => {
    const hook = prometheus();
    const { ask } = await timed([hook]);

    for (const ms of [0, 250, 251, 11_000]) await ask(`query Shelf { wait(ms: ${ms}) }`);
    await ask("mutation Shelf { write(ms: 3) }");

    const text = hook.text();
    expect(familiesIn(text)).toEqual([`${DURATION} HISTOGRAM with help`, `${ERRORS} COUNTER with help`]);
    const buckets = Object.entries(valuesOf(text, `${DURATION}_bucket`));
    expect(buckets.slice(0, 14)).toEqual([
      ...["0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1"].map((le) => [`Shelf query ${le}`, 1]),
      ["Shelf query 0.25", 2],
      ...["0.5", "1", "2.5", "5", "10"].map((le) => [`Shelf query ${le}`, 3]),
      ["Shelf query +Inf", 4],
    ]);
    expect(buckets.slice(14)).toContainEqual(["Shelf mutation 0.0025", 0]);
    expect(buckets.slice(14)).toContainEqual(["Shelf mutation 0.005", 1]);
    expect(valuesOf(text, `${DURATION}_sum`)).toEqual({ "Shelf query": 11.501, "Shelf mutation": 0.003 });
    expect(valuesOf(text, `${DURATION}_count`)).toEqual({ "Shelf query": 4, "Shelf mutation": 1 });
  });

  it("has a counter of operations with errors; rejected ones have a separate type", async () => {
    const hook = prometheus();
    const { ask } = await timed([hook]);

    await ask("query Shelf { fails again: fails }");
    await ask("query Shelf { hello }");
    await ask("query Shelf { nope }");
    await ask("{ hello }");

    expect(valuesOf(hook.text(), ERRORS)).toEqual({
      "Shelf query": 1,
      "Shelf refused": 1,
      "<anonymous> query": 0,
    });
  });

  it("can be read before the first operation", () => {
    const text = prometheus().text();

    expect(text.split("\n").filter((line) => !line.startsWith("#"))).toEqual([""]);
    expect(samplesIn(text)).toEqual([]);
  });

  it("escapes names that were listed", () => {
    const name = 'a "quoted\\name"\nand a line';
    const hook = prometheus({ operations: [name] });

    hook.onOperation(good, operation({ operationName: name }));

    expect(hook.text()).toContain('operation="a \\"quoted\\\\name\\"\\nand a line"');
    expect(labelsIn(hook.text())).toEqual([`${name} query`]);
  });

  it("is served on a route of the application, behind a gate", async () => {
    const hook = prometheus();
    const app = new PorticoApp({ logger: false });
    app.get("/metrics", ({ response }) => response.header("content-type", hook.contentType).text(hook.text()));
    app.get("/gated", { auth: useAuth() }, ({ response }) => response.text(hook.text()));
    new Graph(schema({ query: { hello: field(t.string)(() => "world") } })).onOperation(hook).mount(app);
    const client = await openApp(app);
    await client.post("/graphql", { body: { query: "query Shelf { hello }" } });

    const [open, gated] = [await client.get("/metrics"), await client.get("/gated")];

    expect([open.status, open.headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
    expect(labelsIn(open.text())).toEqual(["Shelf query"]);
    expect(gated.status).toBe(401);
  });
});

describe("labels", () => {
  const seriesOf = (text: string): number =>
    text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length;

  it("do not grow with the names that clients invent: the first 100 stay, the rest are <other>", async () => {
    const hook = prometheus();
    const { ask } = await timed([hook], { transport: { batch: 1_000 } });
    const named = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({ query: `query N${from + n} { hello }` }));

    await ask(named(0, 101));
    const before = seriesOf(hook.text());
    await ask(named(101, 500));
    await ask({ query: `query ${"L".repeat(60_000)} { hello }` });

    expect(labelsIn(hook.text())).toHaveLength(101);
    expect(labelsIn(hook.text()).at(-1)).toBe("<other> query");
    expect(seriesOf(hook.text())).toBe(before);
    expect(valuesOf(hook.text(), `${DURATION}_count`)["<other> query"]).toBe(502);
  });

  it("are those that were listed, whichever arrive first", () => {
    const hook = prometheus({ operations: ["Shelf"] });

    for (const operationName of ["Junk", "Shelf", "Trash", null]) hook.onOperation(good, operation({ operationName }));

    expect(labelsIn(hook.text())).toEqual(["<other> query", "Shelf query", "<anonymous> query"]);
  });

  it("are few with operations: 0", () => {
    const hook = prometheus({ operations: 0 });

    for (const operationName of ["A", "B", null]) hook.onOperation(good, operation({ operationName }));

    expect(labelsIn(hook.text())).toEqual(["<other> query", "<anonymous> query"]);
  });

  it.each([-1, 1.5, 1_001, "Shelf", ["Shelf", 7], Array.from({ length: 1_001 }, (_, n) => `N${n}`)])(
    "are refused where they are written: %#",
    (operations) => {
      expect(() => prometheus({ operations: operations as never })).toThrow(ConfigurationError);
      expect(() => prometheus({ operations: operations as never })).toThrow("prometheus.operations must be a number");
    },
  );
});

describe("what Prometheus reads of routes, sockets and statements", () => {
  it("has a histogram of requests by method, route and status, without paths that clients invent", async () => {
    const hook = prometheus();
    const app = new PorticoApp({ logger: false }).onRequest(hook);
    app.get("/books/:id", ({ path }) => {
      if (path.id === "2") throw new HttpException(410, "Sold");
      return "a book";
    });
    const client = await openApp(app);

    for (const path of ["/books/1", "/books/3", "/books/2", "/nothing", "/at/all"]) await client.get(path);

    const text = hook.text();
    const counted = familiesIn(text).filter((family) => /^portico_(?:http|graphql|sql|sockets)_/.test(family));
    expect(counted).toEqual([`${REQUESTS} HISTOGRAM with help`]);
    expect(
      samplesIn(text)
        .filter(({ name }) => name === `${REQUESTS}_count`)
        .map(({ labels, value }) => [labels, value]),
    ).toEqual([
      [{ method: "GET", route: "/books/:id", status: "200" }, 2],
      [{ method: "GET", route: "/books/:id", status: "410" }, 1],
      [{ method: "<other>", route: "<none>", status: "404" }, 2],
    ]);
  });

  it("has the open sockets of each route", async () => {
    const hook = prometheus();
    const app = new PorticoApp({ logger: false }).onRequest(hook);
    app.socket("/live", async ({ socket }) => {
      for await (const message of socket) socket.send(message);
    });
    const client = await openApp(app);
    const open = () =>
      samplesIn(hook.text())
        .filter(({ name }) => name === "portico_sockets_open")
        .map(({ name, labels, value }) => [name, labels, value]);

    const sockets = [await client.socket("/live"), await client.socket("/live")];
    await expect.poll(open).toEqual([["portico_sockets_open", { route: "/live" }, 2]]);
    for (const socket of sockets) socket.close();

    await expect.poll(open).toEqual([["portico_sockets_open", { route: "/live" }, 0]]);
  });

  it("has a histogram of statements by their first word", async () => {
    const hook = prometheus();
    const database = openDatabase("sqlite::memory:", { onStatement: hook.onStatement });
    for (const statement of [
      sql`create table books (id integer)`,
      sql`insert into books values (1)`,
      sql` SELECT * from books`,
      sql`select 1`,
    ])
      await statement.execute(database);
    await database.destroy();

    expect(
      samplesIn(hook.text())
        .filter(({ name }) => name.endsWith("_count"))
        .map(({ name, labels: { statement }, value }) => [name, statement, value]),
    ).toEqual([
      ["portico_sql_statement_duration_seconds_count", "other", 1],
      ["portico_sql_statement_duration_seconds_count", "insert", 1],
      ["portico_sql_statement_duration_seconds_count", "select", 2],
    ]);
  });
});
