import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { CompiledQuery, sql } from "kysely";
import { isEqual } from "portico";
import { drizzleHandler } from "portico/drizzle";
import type { Order } from "portico/pagination";
import { type TableHandler, tableHandler } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DrizzleDatabase, openDrizzle, tableOf } from "../../lab/servers/drizzle-databases.ts";
import {
  type ColumnType,
  createTable,
  type Engine,
  engineNames,
  insertRows,
  openEngine,
} from "../../lab/servers/engines.ts";
import { range } from "../pagination/ways.ts";

const columns: Readonly<Record<string, ColumnType>> = { id: "key", parent_id: "int", a: "int", n: "int?" };
const orders: Readonly<Record<string, Order>> = {
  "one way": [
    ["a", "desc"],
    ["id", "desc"],
  ],
  mixed: [
    ["a", "asc"],
    ["id", "desc"],
  ],
  nullable: [
    ["n", "asc"],
    ["id", "asc"],
  ],
};
type Sent = DrizzleDatabase["statements"][number];

/** A scan of the whole table in a plan. MariaDB returns JSON in a text, and scans the merged branches of a page as well. */
function scansIn(plan: unknown): string | null {
  const text = JSON.stringify(plan).replaceAll(/\\n\s*|\\/g, "");
  return /Seq Scan|SCAN plan_rows"|"table_name": ?"plan_rows",\s*"access_type": ?"ALL"/.exec(text)?.[0] ?? null;
}

describe.each(engineNames)("the plans of a Drizzle query on %s", (name) => {
  let engine: Engine;
  let drizzle: DrizzleDatabase;
  beforeAll(async () => {
    const schema = `portico_drizzle_plans_${randomUUID().slice(0, 8)}`;
    engine = await openEngine(name, schema, join(tmpdir(), `${schema}.sqlite`));
    await createTable(engine, "plan_rows", columns, ["a, id", "n, id", "parent_id, a, id", "parent_id, n, id"]);
    const rows = range(1, 4_000).map((id) => ({
      id,
      parent_id: id % 40,
      a: Math.floor(id / 3),
      n: id % 5 === 0 ? null : Math.floor(id / 4),
    }));
    await insertRows(engine, "plan_rows", rows);
    await sql.raw(`analyze ${name === "MariaDB" ? "table " : ""}plan_rows`).execute(engine.database);
    drizzle = openDrizzle(engine);
  });
  afterAll(async () => {
    await drizzle?.close();
    await engine?.close();
  });

  const keyOf = (...values: readonly (number | null)[]): readonly (string | bigint | null)[] =>
    values.map((value) => (value === null ? null : name === "SQLite" ? BigInt(value) : String(value)));

  /** Reads the same page through both builders, and returns the statement of each. */
  async function bothStatements(
    isWhere: boolean,
    read: (handler: TableHandler<any, any>) => Promise<unknown>,
  ): Promise<readonly [Sent, Sent]> {
    const rows = tableOf(name, "plan_rows", columns, { parent_id: "parentId" });
    const where = isWhere ? eq(rows["parentId"] as never, 7) : undefined;
    const query = engine.database.selectFrom("plan_rows").selectAll();
    const kysely = tableHandler(isWhere ? query.where("parent_id", "=", 7) : query);

    const expected = await read(kysely as never);
    const found = await read(drizzleHandler(drizzle.db.select().from(rows).where(where) as never) as never);

    const renamed = JSON.stringify(expected).replaceAll('"parent_id"', '"parentId"');
    expect(JSON.stringify(found)).toBe(renamed);
    return [engine.statements.at(-1) as Sent, drizzle.statements.at(-1) as Sent];
  }

  async function planOf({ sql: text, parameters }: Sent): Promise<unknown> {
    const command = { PostgreSQL: "explain (costs off)", MariaDB: "explain format=json", SQLite: "explain query plan" };
    const { rows } = await engine.database.executeQuery(CompiledQuery.raw(`${command[name]} ${text}`, [...parameters]));
    return rows;
  }

  describe.each(Object.entries(orders))("in the order: %s", (_title, order) => {
    const places = [null, keyOf(400, 1_200), ...(order[0]?.[0] === "n" ? [keyOf(null, 1_200)] : [])];

    it.each([false, true])("are those of the same Kysely query, with a condition: %s", async (isWhere) => {
      for (const key of places)
        for (const direction of ["forward", "backward"] as const) {
          const statements = await bothStatements(isWhere, (handler) =>
            handler.getItemsAfter({ order, key, direction }, 21),
          );

          const [expected, found] = await Promise.all(statements.map(planOf));
          expect(found).toEqual(expected);
          // MariaDB sorts a table of 4,000 rows for a first page without a condition, whatever its indexes.
          const mayScan = name === "MariaDB" && key === null && !isWhere;
          expect(mayScan ? null : scansIn(found)).toBeNull();
        }
    });

    it("are those of the same Kysely query for nested lists, in one statement", async () => {
      const field = (handler: TableHandler<any, any>): string =>
        handler["~source"].shape.origin.label === "tableHandler" ? "parent_id" : "parentId";
      for (const key of places) {
        const sent = drizzle.statements.length;
        const statements = await bothStatements(false, (handler) => {
          const seeks = range(1, 9).map((parent) => ({ parent: { [field(handler)]: parent }, key }));
          return handler.getItemsBelow(seeks, { order, direction: "forward" }, 5);
        });

        expect(drizzle.statements.slice(sent).filter(({ sql: text }) => text.includes("~list"))).toHaveLength(1);
        const [expected, found] = await Promise.all(statements.map(planOf));
        expect(found).toEqual(expected);
      }
    });
  });

  it("are those of the same Kysely query for a rule, and for the values of among", async () => {
    const order = orders["one way"] as Order;
    const rows = tableOf(name, "plan_rows", columns, { parent_id: "parentId" });
    const kysely = engine.database.selectFrom("plan_rows").selectAll();
    const seek = { order, key: keyOf(400, 1_200), direction: "forward" } as const;

    await tableHandler(kysely).scopedTo(isEqual("parent_id", 7)).getItemsAfter(seek, 21);
    await drizzleHandler(drizzle.db.select().from(rows) as never)
      .scopedTo(isEqual("parentId", 7))
      .getItemsAfter(seek, 21);
    const [expected, found] = [engine.statements.at(-1) as Sent, drizzle.statements.at(-1) as Sent];
    expect(await planOf(found)).toEqual(await planOf(expected));

    await tableHandler(kysely, { among: { parent_id: [1, 2, 3] } }).getItemsAfter(seek, 21);
    const options = { among: { parentId: [1, 2, 3] } };
    await drizzleHandler(drizzle.db.select().from(rows) as never, options as never).getItemsAfter(seek, 21);
    const [merged, mergedFound] = [engine.statements.at(-1) as Sent, drizzle.statements.at(-1) as Sent];
    expect(await planOf(mergedFound)).toEqual(await planOf(merged));
  });
});
