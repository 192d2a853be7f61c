import { randomUUID } from "node:crypto";
import { CompiledQuery, sql } from "kysely";
import type { Order } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createTable,
  type Engine,
  type EngineName,
  engineNames,
  insertRows,
  openEngine,
  visits,
} from "../../lab/servers/engines.ts";
import { range } from "../pagination/ways.ts";
import { sortedBy } from "./lists/random-rows.ts";

const ROWS = 12_000;
const LIMIT = 21;
/** Index entries that one range may touch besides the rows of its page. */
const SLACK = 8;

/** Every kind of order: one way, the other, mixed, over columns that may be null; with few ties, and with thousands. */
const orders: Readonly<Record<string, Order>> = {
  ascending: [
    ["a", "asc"],
    ["id", "asc"],
  ],
  descending: [
    ["a", "desc"],
    ["id", "desc"],
  ],
  mixed: [
    ["a", "asc"],
    ["id", "desc"],
  ],
  "three columns": [
    ["a", "desc"],
    ["b", "asc"],
    ["id", "asc"],
  ],
  "many ties": [
    ["h", "asc"],
    ["id", "asc"],
  ],
  "many ties, descending": [
    ["h", "desc"],
    ["id", "desc"],
  ],
  "many ties, mixed": [
    ["h", "desc"],
    ["b", "asc"],
    ["id", "desc"],
  ],
  nullable: [
    ["n", "asc"],
    ["id", "asc"],
  ],
  "nullable, descending": [
    ["n", "desc"],
    ["id", "desc"],
  ],
  "nullable, mixed": [
    ["n", "asc"],
    ["id", "desc"],
  ],
  "nullable, behind another": [
    ["h", "asc"],
    ["n", "desc"],
    ["id", "asc"],
  ],
  "two nullable": [
    ["m", "asc"],
    ["n", "desc"],
    ["id", "desc"],
  ],
  "nulls last": [
    ["n", "asc", "nulls last"],
    ["id", "asc"],
  ],
  "nulls first": [
    ["n", "asc", "nulls first"],
    ["id", "asc"],
  ],
  "nulls last, descending": [
    ["n", "desc", "nulls last"],
    ["id", "desc"],
  ],
  "nulls first, descending": [
    ["n", "desc", "nulls first"],
    ["id", "desc"],
  ],
  "nulls last, mixed": [
    ["n", "desc", "nulls last"],
    ["id", "asc"],
  ],
};
const rows = range(1, ROWS).map((id) => ({
  id,
  a: Math.floor(id / 50),
  b: id % 7,
  h: id % 2,
  n: id % 5 === 0 ? null : Math.floor(id / 50),
  m: id % 3 === 0 ? null : id % 2,
}));
const columns = { id: "unique", a: "int", b: "int", h: "int", n: "int?", m: "int?" } as const;
/** One row in so many is of a tie in the columns h and b. */
const TIES = 14;
const depths = [600, ROWS / 6, ROWS / 3, ROWS / 2, (ROWS * 2) / 3, (ROWS * 5) / 6, ROWS - 600];
const isOneWay = (order: Order): boolean =>
  order.every(([column, way]) => way === order[0]?.[1] && !columns[column as keyof typeof columns].endsWith("?"));
const tableOf = (order: Order): string => order.flat().join("_").replaceAll(" ", "_");
/** The index of an order. Only PostgreSQL declares the place of nulls. */
const indexOf = (order: Order, name: EngineName): string =>
  order.map(([column, way, nulls = ""]) => `${column} ${way} ${name === "PostgreSQL" ? nulls : ""}`).join(", ");

interface Sent {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

describe.each(engineNames)("the plan of a seek on %s", (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(name, `portico_plans_${randomUUID().slice(0, 8)}`);
    await createTable(engine, "source", columns);
    await insertRows(engine, "source", rows);
    for (const order of Object.values(orders)) await createCopy(engine, order);
  });
  afterAll(() => engine?.close());

  /** The statement for the rows beyond the one at a depth. */
  async function seekAt(depth: number, order: Order, direction: "forward" | "backward"): Promise<Sent> {
    const handler = tableHandler(engine.database.selectFrom(tableOf(order)).selectAll());
    const sorted = sortedBy(
      engine.database.selectFrom(tableOf(order)).select(order.map(([column]) => column)),
      order.filter(([column]) => column !== "id"),
      order.at(-1)?.[1],
    );
    const row = (await sorted.offset(depth).limit(1).executeTakeFirstOrThrow()) as Record<string, number | null>;
    const key = order.map(([column]) => (row[column] === null ? null : keyOf(name, row[column] as number)));
    engine.statements.length = 0;
    const found = await handler.getItemsAfter({ order, key, direction }, LIMIT);
    expect(found).toHaveLength(LIMIT);
    return engine.statements.at(-1) as Sent;
  }

  describe.each(Object.entries(orders))("%s", (_title, order) => {
    const isRowValue = isOneWay(order) && name !== "MariaDB";
    const form = isRowValue ? "[HND-12]" : "[HND-13]";

    it(`${form} [pagination:PG-120] has the form of its dialect`, async () => {
      const { sql: text } = await seekAt(ROWS / 2, order, "forward");

      expect(/where \(.*\) [<>] \(.*\) order by/.test(text)).toBe(isRowValue);
      expect(text.includes("union all")).toBe(!isRowValue);
      // There it stands next to a condition that no row meets.
      expect(name !== "MariaDB" && / or /i.test(text)).toBe(false);
    });

    it(`${form} [pagination:PG-120] reads as much at any depth, forward and backward`, async () => {
      for (const direction of ["forward", "backward"] as const) {
        for (const depth of depths) {
          const sent = await seekAt(depth, order, direction);
          const reads = await READS[name](engine, sent, order);
          const branches = sent.sql.split("union all").length;
          expect(reads, `${direction} at ${depth}: ${sent.sql}`).toBeLessThanOrEqual(branches * (LIMIT + SLACK));
        }
      }
    });
  });

  describe.each(Object.entries(orders).filter(([, order]) => order[0]?.[2] !== undefined))("%s", (_title, order) => {
    it("reads no more for the first page and the last", async () => {
      const handler = tableHandler(engine.database.selectFrom(tableOf(order)).selectAll());
      for (const direction of ["forward", "backward"] as const) {
        engine.statements.length = 0;
        const found = await handler.getItemsAfter({ order, key: null, direction }, LIMIT);
        const sent = engine.statements.at(-1) as Sent;
        const reads = await READS[name](engine, sent, order, true);

        expect(found).toHaveLength(LIMIT);
        const branches = sent.sql.split("union all").length;
        expect(reads, `${direction}: ${sent.sql}`).toBeLessThanOrEqual(branches * (LIMIT + SLACK));
      }
    });
  });
});

/** Keys as the engine's exact text gives them. */
function keyOf(name: string, value: number): string | bigint {
  return name === "SQLite" ? BigInt(value) : String(value);
}

/** Returns how much a statement reads, as each engine reports it. `isWhole` if it has no key to seek with. */
const READS: Readonly<
  Record<Engine["name"], (engine: Engine, sent: Sent, order: Order, isWhole?: boolean) => Promise<number>>
> = {
  PostgreSQL: async ({ database }, { sql: text, parameters }, order, isWhole = false) => {
    const { rows } = await database.executeQuery<{ "QUERY PLAN": readonly [{ Plan: PlanNode }] }>(
      CompiledQuery.raw(`explain (analyze, buffers, format json) ${text}`, [...parameters]),
    );
    const plan = rows[0]?.["QUERY PLAN"][0].Plan as PlanNode;
    const scans = nodesOf(plan).filter((node) => node["Relation Name"] === tableOf(order));
    for (const scan of scans) {
      // Among thousands of ties the planner may collect the rows first, or go along the index of the unique column and
      // leave out the rows of other ties: as many at any depth.
      const hasManyTies = order[0]?.[0] === "h" || order[0]?.[0] === "m";
      expect(scan["Node Type"]).toMatch(
        hasManyTies ? /^Index (?:Only )?Scan$|^Bitmap Heap Scan$/ : /^Index (?:Only )?Scan$/,
      );
      if (!hasManyTies) expect(scan["Filter"], text).toBeUndefined();
      const isSeek = nodesOf(scan).some((node) => node["Index Cond"] !== undefined);
      expect(isSeek, text).toBe(!isWhole);
    }
    // A block or two for each row is a seek; thousands of them are not.
    const blocks = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
    const read = scans.reduce((sum, scan) => sum + scan["Actual Rows"] + (scan["Rows Removed by Filter"] ?? 0), 0);
    expect(blocks).toBeLessThanOrEqual(scans.length * (LIMIT + SLACK));
    return scans.some((scan) => scan.Filter !== undefined) ? read / TIES : read;
  },
  MariaDB: async ({ database }, { sql: text, parameters }) =>
    database.connection().execute(async (connection) => {
      await sql`flush status`.execute(connection);
      await connection.executeQuery(CompiledQuery.raw(text, [...parameters]));
      const { rows } = await sql<{
        Variable_name: string;
        Value: string;
      }>`show session status like 'Handler_%'`.execute(connection);
      const read = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Number(Value)]));
      const count = (counter: string): number => read.get(`Handler_${counter}`) ?? Number.NaN;
      // Reading what the branches gave, out of the temporary table, is not reading the table.
      expect(count("read_rnd_next")).toBeLessThan(8 * (LIMIT + SLACK));
      // Index entries that InnoDB reads and drops by itself are not included.
      const dropped = count("icp_attempts") - count("icp_match");
      return (
        dropped + ["key", "first", "last", "next", "prev", "retry"].reduce((sum, way) => sum + count(`read_${way}`), 0)
      );
    }),
  SQLite: async ({ database }, { sql: text, parameters }, order, isWhole = false) => {
    const { rows: steps } = await database.executeQuery<{ detail: string }>(
      CompiledQuery.raw(`explain query plan ${text}`, [...parameters]),
    );
    const access = steps.map(({ detail }) => detail).filter((detail) => detail.includes(` ${tableOf(order)} `));
    for (const detail of access)
      expect(detail).toMatch(isWhole ? /USING (?:COVERING )?INDEX/ : /^SEARCH \w+ USING (?:COVERING )?INDEX/);
    visits.count = 0;
    const counted = text.replace(/ where /g, " where visit() = 1 and ");
    await database.executeQuery(CompiledQuery.raw(counted, [...parameters]));
    return visits.count;
  },
};

/** The rows once more, with the index that the order asks for and no other. */
async function createCopy(engine: Engine, order: Order): Promise<void> {
  const table = tableOf(order);
  await createTable(engine, table, columns, [indexOf(order, engine.name)]);
  await sql.raw(`insert into ${table} select * from source`).execute(engine.database);
  await sql.raw(engine.name === "MariaDB" ? `analyze table ${table}` : `analyze ${table}`).execute(engine.database);
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Cond"?: string;
  readonly Filter?: string;
  readonly "Actual Rows": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(plan: PlanNode): readonly PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
