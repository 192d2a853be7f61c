import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { CompiledQuery, Kysely, sql } from "kysely";
import { isEqual, PorticoApp } from "portico";
import { CursorPagination, type Order } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { testClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createTable,
  dialectOf,
  type Engine,
  engineNames,
  insertRows,
  openEngine,
} from "../../../lab/servers/engines.ts";
import { ids, range, SECRET, thereAndBack } from "../../pagination/ways.ts";
import { vacuumTables } from "../vacuum-tables.ts";
import { order, type Row, rowOf, sortedBy, stored } from "./random-rows.ts";

const SOURCES = 40;
const ROWS_EACH = 300;
const LIMIT = 11;
const newest: Order = [
  ["at", "desc"],
  ["id", "desc"],
];

describe.each(engineNames)("a list among some values on %s", (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(name, `portico_among_${randomUUID().slice(0, 8)}`);
    await createTable(engine, "rows_of_sources", {
      id: "key",
      source: "int?",
      i: "int?",
      b: "bigint?",
      t: "time?",
      s: "text?",
      r: "real?",
      d: "decimal?",
    });
    await createTable(engine, "entries", { id: "key", source: "int", at: "int" }, ["source, at, id", "at, id"]);
    await insertRows(
      engine,
      "entries",
      range(1, SOURCES * ROWS_EACH).map((id) => ({ id, source: id % SOURCES, at: Math.floor(id / 3) })),
    );
    if (name === "PostgreSQL") await vacuumTables(engine.database, "entries");
    else await sql.raw(name === "MariaDB" ? "analyze table entries" : "analyze").execute(engine.database);
  });
  afterAll(() => engine?.close());

  it("returns every row once, in any order, forward and backward", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rowOf(true), { maxLength: 24 }),
        fc.array(fc.constantFrom(1, 2, 3, 4, null), { minLength: 1, maxLength: 7 }),
        fc.array(fc.constantFrom(1, 2, 3, 5), { maxLength: 5 }),
        order,
        fc.integer({ min: 1, max: 6 }),
        async (rows: readonly Row[], places, among, columns, size) => {
          const table = () => engine.database.selectFrom("rows_of_sources").select("id");
          await engine.database.deleteFrom("rows_of_sources").execute();
          await insertRows(
            engine,
            "rows_of_sources",
            rows.map((row, at) => ({ ...stored(name, { id: at + 1, ...row }), source: places[at % places.length] })),
          );
          const strategy = new CursorPagination({ order: columns, defaultPageSize: size, totals: "exact" });
          const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
          app.get("/rows", ({ response }) =>
            response.apaginate(tableHandler(table(), { among: { source: among } }) as never, { strategy } as never),
          );

          const seen = await thereAndBack(testClient(app), "/rows");

          // A list of values may be empty, which SQL does not have.
          const expected = ids({
            items: await sortedBy(table(), columns)
              .where("source", "in", [...among, -1])
              .execute(),
          });
          expect(seen).toEqual({ forward: expected, backward: expected });
        },
      ),
      { numRuns: 30 },
    );
  });

  it("is restricted to the values in totals, in offset pages and under a condition", async () => {
    const handler = tableHandler(engine.database.selectFrom("entries").selectAll(), { among: { source: [1, 2, 2] } });

    expect(await handler.getTotalItems()).toBe(2 * ROWS_EACH);
    expect(ids({ items: (await handler.getItems(0, 3)) as never })).toEqual([1, 2, 41]);
    const scoped = handler.scopedTo(isEqual("at", 0));
    expect(
      ids({ items: (await scoped.getItemsAfter({ order: newest, key: null, direction: "forward" }, 5)) as never }),
    ).toEqual([2, 1]);
  });

  it("with more values than fit into a statement is still complete", async () => {
    const among = { source: range(0, 1_000) };
    const handler = tableHandler(engine.database.selectFrom("entries").select("id"), { among });

    const found = await handler.getItemsAfter({ order: newest, key: null, direction: "forward" }, 3);

    expect(ids({ items: found })).toEqual([SOURCES * ROWS_EACH, SOURCES * ROWS_EACH - 1, SOURCES * ROWS_EACH - 2]);
  });

  it("returns a row once if the collation of the column takes two of its values for equal", async () => {
    const { database } = engine;
    for (const text of LOOSE[name]) await sql.raw(text).execute(database);
    const rows = ["a", "A", "b", "c", "B"].map((label, at) => ({ id: at + 1, label }));
    await database.insertInto("labels").values(rows).execute();
    const handler = tableHandler(database.selectFrom("labels").select("id"), {
      among: { label: ["a", "b", "A"] },
    });
    const page = async (key: readonly [string | bigint] | null, limit: number): Promise<readonly unknown[]> =>
      ids({
        items: await handler.getItemsAfter({ order: [["id", "asc"]], key, direction: "forward" }, limit),
      });

    expect(await page(null, 9)).toEqual([1, 2, 3, 5]);
    expect(await page(null, 1)).toEqual([1]);
    expect(await page([name === "SQLite" ? 1n : "1"], 2)).toEqual([2, 3]);
    expect(await handler.getTotalItems()).toBe(4);
  });

  it("looks up its values, and reads no other rows, at any depth, both ways", async () => {
    // The newest rows are all of other sources, and so is every other row between two of these.
    const values = range(1, SOURCES / 2);
    const handler = tableHandler(engine.database.selectFrom("entries").selectAll(), { among: { source: values } });
    for (const at of [null, 200, 2_000, 3_800])
      for (const direction of ["forward", "backward"] as const) {
        engine.statements.length = 0;
        const key =
          at === null ? null : [at, at * 3].map((value) => (name === "SQLite" ? BigInt(value) : String(value)));
        const found = await handler.getItemsAfter({ order: newest, key, direction }, LIMIT);
        const sent = engine.statements.at(-1) as Engine["statements"][number];

        expect(found).toHaveLength(LIMIT);
        await CHECKS[name](engine, sent, values.length);
      }
  });
});

describe("the option among", () => {
  it.each([{}, { source: [1], id: [1] }, { source: 1 }, [1], null])("%j is rejected", (among) => {
    const database = new Kysely<any>({ dialect: dialectOf("SQLite", ":memory:") });

    expect(() => tableHandler(database.selectFrom("entries").selectAll(), { among } as never)).toThrow(
      "tableHandler.among must be one column with a list of values",
    );
  });
});

/** A table with a column that takes a and A for equal, with the index by which a list among some values is merged. */
const LOOSE: Readonly<Record<Engine["name"], readonly string[]>> = {
  PostgreSQL: [
    "create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    "create table labels (id integer primary key, label text collate loose)",
    "create index on labels (label, id)",
  ],
  MariaDB: [
    "create table labels (id integer primary key, label varchar(20) collate utf8mb4_general_ci, index (label, id))",
  ],
  SQLite: [
    "create table labels (id integer primary key, label text collate nocase)",
    "create index labels_label on labels (label, id)",
  ],
};

/** Checks what a statement reads: PostgreSQL reads on only in as many lists as the page has rows. */
const CHECKS: Readonly<
  Record<Engine["name"], (engine: Engine, sent: Engine["statements"][number], values: number) => Promise<void>>
> = {
  PostgreSQL: async ({ database }, { sql: text, parameters }, values) => {
    const { rows } = await database.executeQuery<{ "QUERY PLAN": readonly [{ Plan: PlanNode }] }>(
      CompiledQuery.raw(`explain (analyze, buffers, format json) ${text}`, [...parameters]),
    );
    const plan = rows[0]?.["QUERY PLAN"][0].Plan as PlanNode;
    const scans = nodesOf(plan).filter((node) => node["Relation Name"] === "entries");
    const read = scans.reduce((sum, scan) => sum + scan["Actual Rows"] * scan["Actual Loops"], 0);
    const lookUps = scans.reduce((sum, scan) => sum + scan["Actual Loops"], 0);
    for (const scan of scans) expect(scan["Node Type"], text).toMatch(/^Index (?:Only )?Scan$/);
    // Beyond a key, the order of two columns is one range.
    expect(lookUps).toBeLessThanOrEqual(values + LIMIT);
    expect(read).toBeLessThanOrEqual(values + LIMIT * LIMIT);
  },
  MariaDB: async ({ database }, { sql: text, parameters }, values) =>
    database.connection().execute(async (connection) => {
      await sql`flush status`.execute(connection);
      await connection.executeQuery(CompiledQuery.raw(text, [...parameters]));
      const { rows } = await sql<{
        Variable_name: string;
        Value: string;
      }>`show session status like 'Handler_%'`.execute(connection);
      const read = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Number(Value)]));
      const counters = ["read_key", "read_first", "read_last", "read_next", "read_prev", "icp_attempts"];
      const entries = counters.reduce((sum, counter) => sum + (read.get(`Handler_${counter}`) ?? 0), 0);
      // Two ranges beyond a key, each with an entry at its end, and each entry checked once.
      expect(entries).toBeLessThanOrEqual(2 * values * 2 * (LIMIT + 2));
    }),
  SQLite: async ({ database }, { sql: text, parameters }) => {
    const { rows: steps } = await database.executeQuery<{ detail: string }>(
      CompiledQuery.raw(`explain query plan ${text}`, [...parameters]),
    );
    const access = steps.map(({ detail }) => detail).filter((detail) => detail.includes(" entries "));
    for (const detail of access) expect(detail).toMatch(/^SEARCH entries USING COVERING INDEX entries_0 \(source=\?/);
  },
};

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(plan: PlanNode): readonly PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
