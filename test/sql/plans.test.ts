import { DatabaseSync } from "node:sqlite";
import { CompiledQuery, Kysely, SqliteDialect, sql } from "kysely";
import type { Order } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { range } from "../pagination/ways.ts";
import { createTable, type Engine, engineNames, insertRows, openEngine } from "./engines.ts";
import { nodeSqlite } from "./node-sqlite.ts";

const ROWS = 12_000;
const LIMIT = 21;
/** Index entries that one range may touch besides the rows of its page. */
const SLACK = 8;

/** Every kind of order: one way, the other, mixed, over a column that may be null. */
const orders: Readonly<Record<string, { readonly order: Order; readonly isOneWay: boolean }>> = {
  ascending: {
    order: [
      ["a", "asc"],
      ["id", "asc"],
    ],
    isOneWay: true,
  },
  descending: {
    order: [
      ["a", "desc"],
      ["id", "desc"],
    ],
    isOneWay: true,
  },
  mixed: {
    order: [
      ["a", "asc"],
      ["id", "desc"],
    ],
    isOneWay: false,
  },
  "three columns": {
    order: [
      ["a", "desc"],
      ["b", "asc"],
      ["id", "asc"],
    ],
    isOneWay: false,
  },
  nullable: {
    order: [
      ["n", "asc"],
      ["id", "asc"],
    ],
    isOneWay: false,
  },
  "nullable, descending": {
    order: [
      ["n", "desc"],
      ["id", "desc"],
    ],
    isOneWay: false,
  },
};
const rows = range(1, ROWS).map((id) => ({
  id,
  a: Math.floor(id / 50),
  b: id % 7,
  n: id % 5 === 0 ? null : Math.floor(id / 50),
}));
const columns = { id: "unique", a: "int", b: "int", n: "int?" } as const;
const depths = [600, ROWS / 2, ROWS - 600];
/** MariaDB finds the nulls of a column by index, and its place among them by reading: those keys are left out there. */
const isAmongNulls = (name: string, order: Order, depth: number): boolean =>
  name === "MariaDB" && order[0]?.[0] === "n" && (order[0][1] === "asc" ? depth < ROWS / 4 : depth > (ROWS * 3) / 4);
/** A table for each order, with the index that the order asks for and no other. */
const tableOf = (order: Order): string => order.map(([column, way]) => column + way).join("_");
const indexOf = (order: Order): string => order.map(([column, way]) => `${column} ${way}`).join(", ");

interface Sent {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

describe.each(engineNames)("the plan of a seek on %s", (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(name, "portico_plans");
    for (const { order } of Object.values(orders)) {
      const table = tableOf(order);
      await createTable(engine, table, columns, [indexOf(order)]);
      await insertRows(engine, table, rows);
      await sql.raw(name === "MariaDB" ? `analyze table ${table}` : `analyze ${table}`).execute(engine.database);
    }
  });
  afterAll(() => engine?.close());

  /** The statement for the rows beyond the one at a depth. */
  async function seekAt(depth: number, order: Order, direction: "forward" | "backward"): Promise<Sent> {
    const handler = tableHandler(engine.database.selectFrom(tableOf(order)).selectAll());
    const sorted = order.reduce(
      (query, [column, way]) => query.orderBy(column, way),
      engine.database.selectFrom(tableOf(order)).select(order.map(([column]) => column)),
    );
    const row = (await sorted.offset(depth).limit(1).executeTakeFirstOrThrow()) as Record<string, number | null>;
    const key = order.map(([column]) => (row[column] === null ? null : keyOf(name, row[column] as number)));
    engine.statements.length = 0;
    const found = await handler.getItemsAfter({ order, key, direction }, LIMIT);
    expect(found).toHaveLength(LIMIT);
    return engine.statements.at(-1) as Sent;
  }

  describe.each(Object.entries(orders))("%s", (_title, { order, isOneWay }) => {
    const form = isOneWay && name !== "MariaDB" ? "[HND-12]" : "[HND-13]";

    it(`${form} [pagination:PG-120] has the form of its dialect`, async () => {
      const { sql: text } = await seekAt(ROWS / 2, order, "forward");

      const isRowValue = isOneWay && name !== "MariaDB";
      expect(/where \(.*\) [<>] \(.*\) order by/.test(text)).toBe(isRowValue);
      expect(text.includes("union all")).toBe(!isRowValue);
      expect(text).not.toMatch(/ or /i);
    });

    it(`${form} [pagination:PG-120] reads as much at any depth, forward and backward`, async () => {
      for (const direction of ["forward", "backward"] as const) {
        for (const depth of depths.filter((place) => !isAmongNulls(name, order, place))) {
          const sent = await seekAt(depth, order, direction);
          const reads = await READS[name](engine, sent, order);
          const branches = sent.sql.split("union all").length;
          expect(reads, `${direction} at ${depth}: ${sent.sql}`).toBeLessThanOrEqual(branches * (LIMIT + SLACK));
        }
      }
    });
  });
});

/** Keys as the engine's exact text gives them. */
function keyOf(name: string, value: number): string | bigint {
  return name === "SQLite" ? BigInt(value) : String(value);
}

/** What a statement reads: on each engine by its own account. */
const READS: Readonly<Record<Engine["name"], (engine: Engine, sent: Sent, order: Order) => Promise<number>>> = {
  PostgreSQL: async ({ database }, { sql: text, parameters }, order) => {
    const { rows } = await database.executeQuery<{ "QUERY PLAN": readonly [{ Plan: PlanNode }] }>(
      CompiledQuery.raw(`explain (analyze, buffers, format json) ${text}`, [...parameters]),
    );
    const plan = rows[0]?.["QUERY PLAN"][0].Plan as PlanNode;
    const scans = nodesOf(plan).filter((node) => node["Relation Name"] === tableOf(order));
    for (const scan of scans) {
      expect(scan["Node Type"]).toMatch(/^Index (?:Only )?Scan$/);
      expect(scan["Index Cond"], text).toBeDefined();
      expect(scan["Filter"], text).toBeUndefined();
    }
    // A block or two for each row is a seek; thousands of them are not.
    const blocks = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
    expect(blocks).toBeLessThanOrEqual(scans.length * (LIMIT + SLACK));
    return scans.reduce((sum, scan) => sum + scan["Actual Rows"], 0);
  },
  MariaDB: async ({ database }, { sql: text, parameters }) =>
    database.connection().execute(async (connection) => {
      await sql`flush status`.execute(connection);
      await connection.executeQuery(CompiledQuery.raw(text, [...parameters]));
      const { rows } = await sql<{
        Variable_name: string;
        Value: string;
      }>`show session status like 'Handler_read%'`.execute(connection);
      // Reading what the branches gave, out of the temporary table, is not reading the table.
      const counted = rows.filter(({ Variable_name }) => !/rnd/i.test(Variable_name));
      const scanned = rows.find(({ Variable_name }) => Variable_name === "Handler_read_rnd_next");
      expect(Number(scanned?.Value)).toBeLessThan(8 * (LIMIT + SLACK));
      return counted.reduce((sum, { Value }) => sum + Number(Value), 0);
    }),
  SQLite: async ({ database }, { sql: text, parameters }, order) => {
    const { rows: steps } = await database.executeQuery<{ detail: string }>(
      CompiledQuery.raw(`explain query plan ${text}`, [...parameters]),
    );
    const access = steps.map(({ detail }) => detail).filter((detail) => detail.includes(` ${tableOf(order)} `));
    for (const detail of access) expect(detail).toMatch(/^SEARCH \w+ USING (?:COVERING )?INDEX/);
    return countSteps(text, parameters, order);
  },
};

/** How many rows SQLite visits: each calls a function of ours. */
async function countSteps(text: string, parameters: readonly unknown[], order: Order): Promise<number> {
  let visited = 0;
  const file = new DatabaseSync(":memory:");
  file.function("visit", { deterministic: false }, () => {
    visited++;
    return 1;
  });
  const database = new Kysely<any>({ dialect: new SqliteDialect({ database: nodeSqlite(file) }) });
  const engine: Engine = { name: "SQLite", database, statements: [], close: () => database.destroy() };
  await createTable(engine, tableOf(order), columns, [indexOf(order)]);
  await insertRows(engine, tableOf(order), rows);
  await database.executeQuery(CompiledQuery.raw(text.replace(/ where /g, " where visit() = 1 and "), [...parameters]));
  await database.destroy();
  return visited;
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Cond"?: string;
  readonly Filter?: string;
  readonly "Actual Rows": number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(plan: PlanNode): readonly PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
