import { randomUUID } from "node:crypto";
import { CompiledQuery, type SelectQueryBuilder, sql } from "kysely";
import { PorticoApp } from "portico";
import { CursorPagination, type Order } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { testClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTable, type Engine, engineNames, insertRows, openEngine } from "../../../lab/servers/engines.ts";
import { range, SECRET, thereAndBack } from "../../pagination/ways.ts";

const ROWS = 3_000;
const LIMIT = 21;
const order: Order = [
  ["title_key", "asc"],
  ["id", "asc"],
];
type Query = SelectQueryBuilder<any, any, any>;

/** Titles whose case hides their order, some of them equal but for it, and some missing. */
const rows = range(1, ROWS).map((id) => {
  const word = `title ${String((id * 7919) % 1_000).padStart(4, "0")}`;
  return { id, title: id % 50 === 0 ? null : id % 2 === 0 ? word.toUpperCase() : word, a: id % 3, b: id % 5 };
});
const inOrder = (isNullLast: boolean): number[] =>
  rows
    .toSorted((one, other) => {
      const [left, right] = [one.title?.toLowerCase(), other.title?.toLowerCase()];
      if (left === right) return one.id - other.id;
      if (left === undefined || right === undefined) return (left === undefined) === isNullLast ? 1 : -1;
      return left < right ? -1 : 1;
    })
    .map(({ id }) => id);

describe.each(engineNames)("an order by an expression on %s", (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(name, `portico_expressions_${randomUUID().slice(0, 8)}`);
    // MariaDB has no indexes on expressions, but on generated columns.
    await createTable(engine, "books", { id: "key", title: "text?", a: "int", b: "int" });
    await insertRows(engine, "books", rows);
    const statements =
      name === "MariaDB"
        ? [
            "alter table books add column lowered varchar(100) as (lower(title)) stored",
            "create index by_title on books (lowered, id)",
            "analyze table books",
          ]
        : ["create index by_title on books (lower(title), id)", "analyze books"];
    for (const statement of statements) await sql.raw(statement).execute(engine.database);
  });
  afterAll(() => engine?.close());

  const key = () => (name === "MariaDB" ? sql<string>`lowered` : sql<string>`lower(title)`).as("title_key");
  const queries: Readonly<Record<string, () => Query>> = {
    "a selected field": () => engine.database.selectFrom("books").select(["id", key()]),
    "a field of a subquery, which is not selected": () =>
      engine.database
        .selectFrom(engine.database.selectFrom("books").select(["id", "title", key()]).as("b"))
        .select("b.id"),
  };

  it.each(Object.keys(queries))("returns every row once, in order, both ways: %s", async (kind) => {
    const strategy = new CursorPagination({ order: [["title_key", "asc"]], defaultPageSize: 100 });
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    app.get("/books", ({ response }) =>
      response.apaginate(tableHandler((queries[kind] as () => Query)()), { strategy } as never),
    );

    const seen = await thereAndBack(testClient(app), "/books");

    const expected = inOrder(name === "PostgreSQL");
    expect(seen).toEqual({ forward: expected, backward: expected });
  });

  it.each(Object.keys(queries))("reads only its index, at any depth, both ways: %s", async (kind) => {
    const handler = tableHandler((queries[kind] as () => Query)());
    for (const position of [null, ["title 0500", name === "SQLite" ? 500n : "500"]])
      for (const direction of ["forward", "backward"] as const) {
        engine.statements.length = 0;
        const found = await handler.getItemsAfter({ order, key: position, direction }, LIMIT);
        const sent = engine.statements.at(-1) as Engine["statements"][number];

        expect(found).toHaveLength(LIMIT);
        expect(await ACCESS[name](engine, sent), sent.sql).toBe(true);
      }
  });

  it("takes an expression with operators as a whole", async () => {
    const query = engine.database.selectFrom("books").select(["id", sql<number>`-a + b`.as("rank")]);
    const handler = tableHandler(query);
    const byRank: Order = [
      ["rank", "desc"],
      ["id", "asc"],
    ];

    const seen: number[] = [];
    let last: readonly [number, number] | null = null;
    for (;;) {
      const at = last?.map((value) => (name === "SQLite" ? BigInt(value) : String(value))) ?? null;
      const found: readonly { id: number; rank: number }[] = await handler.getItemsAfter(
        { order: byRank, key: at, direction: "forward" },
        500,
      );
      seen.push(...found.map(({ id }) => id));
      const end = found.at(-1);
      if (end === undefined) break;
      last = [end.rank, end.id];
    }

    expect(seen).toEqual(
      rows.toSorted((one, other) => other.b - other.a - (one.b - one.a) || one.id - other.id).map(({ id }) => id),
    );
  });
});

/** Whether a statement reads the index on the expression, and neither the whole table nor the whole index. */
const ACCESS: Readonly<
  Record<Engine["name"], (engine: Engine, sent: Engine["statements"][number]) => Promise<boolean>>
> = {
  PostgreSQL: async ({ database }, { sql: text, parameters }) => {
    const { rows: lines } = await database.executeQuery<{ "QUERY PLAN": string }>(
      CompiledQuery.raw(`explain ${text}`, [...parameters]),
    );
    const plan = lines.map((line) => line["QUERY PLAN"]).join("\n");
    return plan.includes("by_title") && !plan.includes("Seq Scan");
  },
  MariaDB: async ({ database }, { sql: text, parameters }) =>
    database.connection().execute(async (connection) => {
      await sql`flush status`.execute(connection);
      await connection.executeQuery(CompiledQuery.raw(text, [...parameters]));
      const { rows: counters } = await sql<{
        Variable_name: string;
        Value: string;
      }>`show session status like 'Handler_read%'`.execute(connection);
      return counters.reduce((sum, { Value }) => sum + Number(Value), 0) < 10 * LIMIT;
    }),
  SQLite: async ({ database }, { sql: text, parameters }) => {
    const { rows: steps } = await database.executeQuery<{ detail: string }>(
      CompiledQuery.raw(`explain query plan ${text}`, [...parameters]),
    );
    const access = steps.map(({ detail }) => detail).filter((detail) => detail.includes(" books"));
    return access.length > 0 && access.every((detail) => detail.includes("by_title"));
  },
};
