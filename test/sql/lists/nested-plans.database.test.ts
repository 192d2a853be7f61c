import { randomUUID } from "node:crypto";
import { CompiledQuery, sql } from "kysely";
import type { Order } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTable, type Engine, insertRows, openEngine } from "../../../lab/servers/engines.ts";
import { range } from "../../pagination/ways.ts";
import { vacuumTables } from "../vacuum-tables.ts";
import { sortedBy } from "./random-rows.ts";

const PARENTS = 60;
const CHILDREN = 300;
const LIMIT = 11;
/** Blocks or entries that one range may touch besides the rows of its page. */
const SLACK = 6;
/** The rows before the page. */
const depths = [0, 1, 30, 150, 280];

const orders: Readonly<Record<string, Order>> = {
  "one way": [
    ["a", "desc"],
    ["id", "desc"],
  ],
  mixed: [
    ["a", "desc"],
    ["id", "asc"],
  ],
  nullable: [
    ["n", "asc"],
    ["id", "asc"],
  ],
  "nulls last": [
    ["n", "asc", "nulls last"],
    ["id", "asc"],
  ],
  "nulls last, descending": [
    ["n", "desc", "nulls last"],
    ["id", "desc"],
  ],
};

describe.each(["PostgreSQL", "MariaDB"] as const)("the cost of nested pages on %s", (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(name, `portico_nested_plans_${randomUUID().slice(0, 8)}`);
    await createTable(engine, "children", { id: "key", parent: "int", a: "int", n: "int?" }, [
      "parent, a desc, id desc",
      "parent, a desc, id asc",
      "parent, n, id",
      ...(name === "PostgreSQL" ? ["parent, n desc nulls last, id desc"] : []),
    ]);
    // The rows of a parent are far apart, like the books of an old author.
    await insertRows(
      engine,
      "children",
      range(1, PARENTS * CHILDREN).map((id) => {
        const child = Math.floor(id / PARENTS);
        return { id, parent: id % PARENTS, a: Math.floor(child / 3), n: child % 10 === 0 ? null : child };
      }),
    );
    if (name === "MariaDB") await sql`analyze table children`.execute(engine.database);
    else await vacuumTables(engine.database, "children");
  });
  afterAll(() => engine?.close());

  it.each(Object.keys(orders))("does not grow with the depth, both ways, in the order: %s", async (kind) => {
    const order = orders[kind] as Order;
    const handler = tableHandler(engine.database.selectFrom("children").selectAll());
    const reversed = order.map(([column, way, nulls]): Order[number] => {
      const turned = way === "asc" ? "desc" : "asc";
      return nulls === undefined ? [column, turned] : [column, turned, "nulls first"];
    });
    for (const [direction, along] of [
      ["forward", order],
      ["backward", reversed],
    ] as const) {
      const costs: number[] = [];
      for (const depth of depths) {
        const seeks = await Promise.all(
          range(0, PARENTS - 1).map(async (parent) => ({ parent: { parent }, key: await keyAt(parent, along, depth) })),
        );
        engine.statements.length = 0;
        const pages = await handler.getItemsBelow(seeks, { order, direction }, LIMIT);
        const sent = engine.statements.findLast(({ sql: text }) => text.includes("~list"));
        expect(pages.every((page) => !(page instanceof Error) && page.length === LIMIT)).toBe(true);
        if (sent === undefined) throw new Error("nothing was sent");
        costs.push(await READS[name](engine, sent));
      }

      // Reading all rows before the page would cost 280 rows more at the end than at the beginning.
      const ranges = order.length + 1;
      expect(Math.max(...costs), `${direction}: ${costs.join(", ")}`).toBeLessThanOrEqual(
        PARENTS * ranges * (LIMIT + SLACK),
      );
      expect(costs.at(-1), `${direction}: ${costs.join(", ")}`).toBeLessThanOrEqual((costs[1] ?? 0) + PARENTS * LIMIT);
    }
  });

  /** The key of the row before a depth of the parent's list. */
  const keyAt = async (parent: number, order: Order, depth: number): Promise<(string | null)[] | null> => {
    if (depth === 0) return null;
    const children = engine.database.selectFrom("children").selectAll().where("parent", "=", parent);
    const row = await sortedBy(children, order.slice(0, -1), order.at(-1)?.[1])
      .offset(depth - 1)
      .limit(1)
      .executeTakeFirstOrThrow();
    return order.map(([column]) => (row[column] === null ? null : String(row[column])));
  };
});

type Sent = Engine["statements"][number];

/** Returns how much a statement reads: blocks on PostgreSQL, index entries on MariaDB. */
const READS: Readonly<Record<"PostgreSQL" | "MariaDB", (engine: Engine, sent: Sent) => Promise<number>>> = {
  PostgreSQL: async ({ database }, { sql: text, parameters }) => {
    const { rows } = await database.executeQuery<{ "QUERY PLAN": readonly [{ Plan: PlanNode }] }>(
      CompiledQuery.raw(`explain (analyze, buffers, format json) ${text}`, [...parameters]),
    );
    const plan = rows[0]?.["QUERY PLAN"][0].Plan as PlanNode;
    for (const scan of nodesOf(plan).filter((node) => node["Relation Name"] === "children"))
      expect(scan["Node Type"], text).toMatch(/^Index (?:Only )?Scan$|^Bitmap Heap Scan$/);
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
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
      const counters = ["read_key", "read_first", "read_last", "read_next", "read_prev", "icp_attempts"];
      return counters.reduce((sum, counter) => sum + (read.get(`Handler_${counter}`) ?? 0), 0);
    }),
};

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(plan: PlanNode): readonly PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
