import { readFileSync } from "node:fs";
import { sql } from "kysely";
import { PorticoApp, prometheus, ServiceUnavailable, topic } from "portico";
import { field, Graph, schema, t } from "portico/graphql";
import { consume, migrate, openDatabase, sqlStores } from "portico/sql";
import { liveClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type OwnPostgres, ownPostgres } from "../../lab/servers/own-postgres.ts";
import { alerts } from "../../scripts/dashboard/alerts.ts";
import { rows } from "../../scripts/dashboard/panels.ts";
import { dashboardFiles } from "../../scripts/dashboard.ts";
import { seriesList } from "../../src/core/parts/series-list.ts";

const expressions = [
  ...rows.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries.map(({ expr }) => expr))),
  ...alerts.map(({ expr }) => expr),
];

/** The metrics that an expression names, without the endings of the parts of a histogram. */
function metricsIn(expression: string): readonly string[] {
  const names = expression.match(/\b(?:portico|nodejs|process|http|db)_\w+(?=[{[\s]|$)/g) ?? [];
  return names.map((name) => name.replace(/_(?:bucket|count|sum)$/, (end) => (isHistogram(name) ? "" : end)));
}

const isHistogram = (name: string): boolean => /_seconds_(?:bucket|count|sum)$/.test(name);

/** An application that uses everything that has series: PostgreSQL with a replica, its stores, a consumer, GraphQL, a socket. */
async function exposed(primary: OwnPostgres, replica: OwnPostgres): Promise<ReadonlySet<string>> {
  const metrics = prometheus();
  const database = openDatabase<any>(
    { primary: primary.url, replicas: [replica.url] },
    { poolSize: 2, onStatement: metrics.onStatement },
  );
  await migrate(database, "up");
  const app = new PorticoApp({ stores: sqlStores(database), logger: { level: "silent" } }).onRequest(metrics);
  const placed = topic<{ id: string }>("dashboard.placed", { keep: "1h" });
  app.consume(consume(placed, "mail", { key: ({ id }) => id }, () => {}));
  app.onClose(() => database.destroy());
  app.get("/books", () => database.replica().selectNoFrom(sql`1`.as("one")).execute());
  app.get("/busy", () => {
    throw new ServiceUnavailable("Try again later");
  });
  app.socket("/live", async ({ socket }) => {
    for await (const message of socket) socket.send(message);
  });
  new Graph(schema({ query: { hello: field(t.string)(() => "world") } })).onOperation(metrics).mount(app);
  const client = await liveClient(app);
  onTestFinished(() => client.close());
  const families = (): ReadonlySet<string> =>
    new Set([...metrics.text().matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string));

  await client.post("/graphql", { body: { query: "{ hello }" } });
  await client.get("/busy");
  await client.socket("/live");
  await expect
    .poll(async () => ((await client.get("/books")).status === 200 ? families() : null), { timeout: 20_000 })
    .toContain("portico_db_replica_lag_bytes");
  await expect.poll(families).toContain("portico_check_up");
  return families();
}

describe("the dashboard and the alert rules", () => {
  let primary: OwnPostgres;
  let replica: OwnPostgres;
  beforeAll(async () => {
    primary = await ownPostgres();
    replica = await ownPostgres([], primary);
  });
  afterAll(async () => {
    await replica?.remove();
    await primary?.remove();
  });

  it("show every series that a running application exposes, and name no other", async () => {
    const families = await exposed(primary, replica);

    const shown = new Set(expressions.flatMap(metricsIn));
    expect([...shown].filter((name) => !families.has(name))).toEqual([]);
    expect([...families].filter((name) => !shown.has(name))).toEqual([]);
    expect(Object.keys(seriesList).filter((name) => !families.has(name))).toEqual([]);
  });
});

it.each(Object.entries(dashboardFiles()))("%s is up to date: run node scripts/dashboard.ts", (path, text) => {
  expect(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")).toBe(text);
});

it("every series is in the documentation", () => {
  const text = readFileSync(new URL("../../docs/guide/observability.md", import.meta.url), "utf8");
  const listed = [...text.matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(([, name, type]) => `${name} ${type}`);

  expect(listed).toEqual(
    expect.arrayContaining(Object.entries(seriesList).map(([name, { type }]) => `${name} ${type}`)),
  );
});

it.each(expressions)("has balanced parentheses and braces: %s", (expression) => {
  for (const [open, close] of [
    ["(", ")"],
    ["{", "}"],
    ["[", "]"],
  ] as const)
    expect(expression.split(open).length).toBe(expression.split(close).length);
});
