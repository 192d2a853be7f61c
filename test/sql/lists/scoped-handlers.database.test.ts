import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { CamelCasePlugin, sql } from "kysely";
import { type Condition, type ConditionValue, isEqual, isIn, isNull } from "portico";
import type { SeekRequest } from "portico/pagination";
import { type TableHandler, tableHandler, totalsCache } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTable, type Engine, engineNames, insertRows, openEngine } from "../../../lab/servers/engines.ts";
import { ALWAYS, allOf, anyOf, inverse, NEVER } from "../../../src/pagination/conditions/condition.ts";
import { range } from "../../pagination/ways.ts";
import { meets } from "../meets.ts";

type Row = Readonly<Record<string, ConditionValue>>;

const TEXTS = ["", "a", "A", "a'b", '"', "\\", "null", "' or 1=1 -- ", "\\' or 1=1 #", "{a,b}", "\u00e4"];
/** Every combination of values and nulls occurs. */
const items: readonly Row[] = range(1, 72).map((id) => ({
  id,
  owner: [null, 1, 2, 3, 3, 1, 1][id % 7] ?? null,
  note: id % 6 === 0 ? null : (TEXTS[id % TEXTS.length] ?? null),
}));
const links: readonly Row[] = range(1, 40).map((id) => ({
  id,
  item_id: id % 5 === 0 ? null : (id * 7) % 72,
  tag: [null, 1, 2][id % 3] ?? null,
}));
const tables = { items, links };

const leaves = (columns: readonly string[]): fc.Arbitrary<Condition> => {
  const column = fc.constantFrom(...columns);
  const number = fc.option(fc.integer({ min: 0, max: 4 }));
  return fc.oneof(
    column.map((name) => isNull(name)),
    fc.tuple(column, number).map(([name, value]) => isEqual(name, value)),
    fc.tuple(column, fc.array(number, { maxLength: 5 })).map(([name, values]) => isIn(name, values)),
    fc.constantFrom<Condition>(ALWAYS, NEVER),
  );
};
const combined = (leaf: fc.Arbitrary<Condition>, depth: number): fc.Arbitrary<Condition> => {
  if (depth === 0) return leaf;
  const part = combined(leaf, depth - 1);
  return fc.oneof(
    leaf,
    part.map((condition) => inverse(condition)),
    fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => allOf(parts)),
    fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => anyOf(parts)),
  );
};
const ofLinks = combined(leaves(["id", "item_id", "tag"]), 1);
const related = fc
  .tuple(fc.constantFrom("id", "owner"), fc.constantFrom("item_id", "tag"), ofLinks)
  .map(([column, key, where]) => isIn(column, { from: "links", column: key, where }));
const deep = fc
  .tuple(related, fc.constantFrom("item_id", "tag"))
  .map(([where, column]) =>
    isIn("id", { from: "links", column, where: isIn("item_id", { from: "items", column: "id", where }) }),
  );
const ofTexts = fc.array(fc.option(fc.constantFrom(...TEXTS)), { maxLength: 4 }).map((values) => isIn("note", values));
const conditions = combined(fc.oneof(leaves(["id", "owner"]), ofTexts, related, deep), 3);

describe.each(engineNames)("a scoped table handler on %s", (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(name, `portico_scoped_${randomUUID().slice(0, 8)}`);
    await createTable(engine, "items", { id: "key", owner: "int?", note: "text?" }, ["owner, id"]);
    await createTable(engine, "links", { id: "key", item_id: "int?", tag: "int?" });
    await createTable(engine, "owners", { id: "key", owner: "int?", note: "text?" });
    await insertRows(engine, "items", items);
    await insertRows(engine, "links", links);
    await insertRows(
      engine,
      "owners",
      range(1, 3).map((id) => ({ id, owner: 9, note: "an owner" })),
    );
  });
  afterAll(() => engine?.close());

  const all = () => engine.database.selectFrom("items").selectAll();
  const idsOf = async (handler: Pick<TableHandler<any>, "getItems">): Promise<number[]> =>
    ((await handler.getItems(0, 1_000)) as readonly { readonly id: number }[]).map(({ id }) => id);
  const expected = (condition: Condition): unknown[] =>
    items.filter((row) => meets(condition, row, tables)).map(({ id }) => id);
  const walk = async (handler: TableHandler<any>, direction: SeekRequest["direction"]): Promise<unknown[]> => {
    const order = [
      ["owner", "desc"],
      ["id", "asc"],
    ] as const;
    const seen: unknown[] = [];
    for (let key: SeekRequest["key"] = null; ; ) {
      const rows = (await handler.getItemsAfter({ order, key, direction }, 7)) as readonly Row[];
      seen.push(...rows.map(({ id }) => id));
      const last = rows.at(-1);
      if (last === undefined || rows.length < 7) return seen.toSorted((a, b) => Number(a) - Number(b));
      key = [last["owner"] ?? null, last["id"] ?? null].map((value) => (value === null ? null : String(value)));
      if (name === "SQLite") key = key.map((value) => (value === null ? null : BigInt(String(value))));
    }
  };

  it("has the rows for which the condition is true in JavaScript, whatever is null", async () => {
    const sizes = new Set<number>();
    await fc.assert(
      fc.asyncProperty(conditions, async (condition) => {
        const handler = tableHandler(all()).scopedTo(condition);
        const wanted = expected(condition);
        sizes.add(wanted.length);

        expect(await idsOf(handler)).toEqual(wanted);
        expect(await handler.getTotalItems()).toBe(wanted.length);
        expect(await handler.countUpTo(10)).toBe(Math.min(10, wanted.length));
      }),
      { numRuns: 300 },
    );

    // Otherwise most conditions would have matched all rows or none.
    expect(sizes.size).toBeGreaterThan(15);
  });

  it("is walked by cursor in both directions without another row", async () => {
    await fc.assert(
      fc.asyncProperty(conditions, async (condition) => {
        const handler = tableHandler(all()).scopedTo(condition);

        expect(await walk(handler, "forward")).toEqual(expected(condition));
        expect(await walk(handler, "backward")).toEqual(expected(condition));
      }),
      { numRuns: 60 },
    );
  });

  it.each(TEXTS)("takes %j as a value, and nothing else", async (text) => {
    for (const condition of [isEqual("note", text), isIn("note", [text, "another"]), inverse(isEqual("note", text))])
      expect(await idsOf(tableHandler(all()).scopedTo(condition))).toEqual(expected(condition));
  });

  it.each(['id" is not null or "id', "id` is not null or `id", "id = id or id", "1", "*", "id -- ", "id as id"])(
    "takes %j as the name of a column",
    async (column) => {
      await expect(idsOf(tableHandler(all()).scopedTo(isEqual(column, "?")))).rejects.toThrow(/column/i);
      await expect(
        idsOf(tableHandler(all()).scopedTo(isIn("id", { from: "links", column, where: isNull("tag") }))),
      ).rejects.toThrow(/column/i);
    },
  );

  it("takes a name with quotes as the name of a table", async () => {
    const from = 'links" as "l" where 1=1 or "links`';

    await expect(idsOf(tableHandler(all()).scopedTo(isIn("id", { from, column: "item_id" })))).rejects.toThrow(
      /exist|no such table/,
    );
  });

  it("compares large numbers exactly, and booleans and times as the driver stores them", async () => {
    const [flag, time] = {
      PostgreSQL: ["boolean", "timestamptz"],
      MariaDB: ["boolean", "datetime(3)"],
      SQLite: ["integer", "text"],
    }[name];
    await sql
      .raw(`create table kinds (id integer primary key, big bigint, flag ${flag}, time ${time})`)
      .execute(engine.database);
    const at = (hour: number) => new Date(Date.UTC(2024, 2, 1, hour, 0, 0, 250));
    const stored = (value: boolean | Date) =>
      name !== "SQLite" ? value : value instanceof Date ? value.toISOString() : Number(value);
    const rows = range(0, 3).map((id) => ({
      id,
      big: 9_007_199_254_740_992n + BigInt(id),
      flag: stored(id % 2 === 1),
      time: stored(at(id)),
    }));
    await insertRows(engine, "kinds", rows);
    const found = async (condition: Condition) =>
      idsOf(tableHandler(engine.database.selectFrom("kinds").select("id")).scopedTo(condition));

    expect(await found(isEqual("big", 9_007_199_254_740_993n))).toEqual([1]);
    expect(await found(isIn("big", [9_007_199_254_740_993n, 9_007_199_254_740_995n]))).toEqual([1, 3]);
    expect(await found(isEqual("flag", true))).toEqual([1, 3]);
    expect(await found(isIn("flag", [true, false]))).toEqual([0, 1, 2, 3]);
    expect(await found(isEqual("time", stored(at(1))))).toEqual([1]);
    expect(await found(inverse(isIn("time", [stored(at(1)), stored(at(2))])))).toEqual([0, 3]);
  });

  it.runIf(name === "SQLite")("rejects a Date, which the engine does not have", () => {
    expect(() => tableHandler(all()).scopedTo(isEqual("time", new Date()))).toThrow(
      "a condition compares time with a Date, which SQLite does not have: use the text or number that the column holds",
    );
  });

  it("finds a column whose name has a quote in it", async () => {
    const quoted = name === "MariaDB" ? '`a"b``c`' : '"a""b`c"';
    await sql.raw(`create table odd (id integer primary key, ${quoted} integer)`).execute(engine.database);
    await sql.raw("insert into odd values (1, 7), (2, 8)").execute(engine.database);

    const handler = tableHandler(engine.database.selectFrom("odd").selectAll()).scopedTo(isEqual('a"b`c', 8));

    expect(await idsOf(handler)).toEqual([2]);
  });

  it("compares the column of its own table, also if a joined table has one of that name", async () => {
    const condition = allOf([isEqual("owner", 2), isIn("note", ["a", "A"]), isIn("id", range(1, 50))]);
    const joined = engine.database.selectFrom("items").leftJoin("owners", "owners.id", "items.owner");
    const aliased = engine.database.selectFrom("items as i").leftJoin("owners as o", "o.id", "i.owner");
    const subquery = engine.database.selectFrom(all().as("s")).leftJoin("owners", "owners.id", "s.owner");

    expect(expected(condition)).not.toEqual([]);
    for (const query of [joined.selectAll("items"), aliased.selectAll("i"), subquery.selectAll("s")])
      for (const scoped of [condition, inverse(condition)])
        expect(await idsOf(tableHandler(query as typeof joined).scopedTo(scoped))).toEqual(expected(scoped));
  });

  it("compares the selected field, because that is the value in the row", async () => {
    const query = engine.database
      .selectFrom("items")
      .innerJoin("owners", "owners.id", "items.owner")
      .select(["items.id", "owners.note", sql<number>`owners.owner + 1`.as("owner")]);
    const handler = tableHandler(query).scopedTo(allOf([isEqual("note", "an owner"), isEqual("owner", 10)]));

    expect(await idsOf(handler)).toEqual(items.filter(({ owner }) => owner !== null).map(({ id }) => id));
  });

  it("compares a computed field as a whole", async () => {
    const query = all().select(sql<boolean>`id > 70 or id < 3`.as("is_end"));
    const found = async (isEnd: boolean) => idsOf(tableHandler(query).scopedTo(isEqual("is_end", isEnd)));

    expect(await found(true)).toEqual([1, 2, 71, 72]);
    expect(await found(false)).toEqual(range(3, 70));
  });

  it("compares the column that a plugin of the query renames", async () => {
    const renamed = engine.database.withPlugin(new CamelCasePlugin()).selectFrom("links").selectAll();
    const handler = tableHandler(renamed).scopedTo(isIn("itemId", { from: "items", column: "id", where: ALWAYS }));

    const wanted = links.filter(({ item_id }) => items.some(({ id }) => id === item_id));

    expect(await idsOf(handler)).toEqual(wanted.map(({ id }) => id));
  });

  it("adds to the conditions of its query, also to an `or` in raw SQL", async () => {
    const queries = [
      all().where(sql<boolean>`id = 1 or id = 2 or id = 3`),
      all().where((eb) => eb.not(sql<boolean>`id > 3 or 1 = 0`)),
      all().where("id", "<=", 0).where(sql<boolean>`1 = 1 or id <= 3`),
      all().where("id", "<=", sql<number>`3 or 1 = 1`),
      all().where((eb) => eb.or([eb("id", "<", 3), eb("id", "=", 3)])),
    ] as const;
    const rows = await Promise.all(queries.map(idsOfQuery));

    for (const [index, query] of queries.entries()) {
      const scoped = await idsOf(tableHandler(query).scopedTo(isEqual("id", 2)));
      expect(scoped).toEqual(rows[index]?.filter((id) => id === 2));
    }
  });
  const idsOfQuery = async (query: ReturnType<typeof all>): Promise<number[]> =>
    // PostgreSQL has no number that is also a condition.
    (await query.execute().catch(() => [])).map(({ id }) => id as number);

  it("says that a grouped or combined query cannot be scoped", async () => {
    const message =
      "tableHandler cannot apply the condition of a rule or a filter to a query with GROUP BY, HAVING, DISTINCT or a set operation: select from it as a subquery";
    const grouped = engine.database.selectFrom("items").select("owner as id").groupBy("owner");
    const either = all()
      .where("id", "<", 5)
      .union(all().where("id", ">", 60));
    for (const query of [grouped, either, all().distinct()])
      expect(() => tableHandler(query as ReturnType<typeof all>).scopedTo(isNull("id"))).toThrow(message);

    const wrapped = tableHandler(engine.database.selectFrom(grouped.as("g")).selectAll());

    expect(await idsOf(wrapped.scopedTo(isIn("id", [1, 3])))).toEqual([1, 3]);
    expect(() =>
      tableHandler(engine.database.selectFrom(grouped.as("g")).selectAll()).scopedTo(isNull("owner")),
    ).toThrow("tableHandler: the query has no column owner, but the condition of a rule or a filter uses it");
  });

  it("keeps the options of its handler, and counts each scope separately", async () => {
    const handler = tableHandler(all(), { name: "things", maxOffset: 5, totalsCache: totalsCache() });
    const scopes = [isEqual("owner", 1), isEqual("owner", 2), isIn("owner", [1, 2]), isIn("owner", [1, 3]), NEVER];
    const totals = async () => Promise.all(scopes.map((scope) => handler.scopedTo(scope).getTotalItems()));

    expect(handler.scopedTo(isNull("owner"))).toMatchObject({ name: "things", maxOffset: 5, uniqueKey: ["id"] });
    const first = await totals();
    engine.statements.length = 0;
    const second = await totals();

    expect(first).toEqual(scopes.map((scope) => expected(scope).length));
    expect(second).toEqual(first);
    expect(engine.statements).toEqual([]);
  });

  it("sends the values as parameters, in statements that many lists share", async () => {
    const lists = [[1, 2], [1, 3], [1, 2, 3], [2, 3, 4], range(1, 40)];
    const texts = new Map<string, number>();
    // A repeated statement is prepared by name.
    for (let round = 0; round < 5; round++)
      for (const list of lists) {
        engine.statements.length = 0;
        const handler = tableHandler(all()).scopedTo(isIn("owner", list));
        const rows = await handler.getItemsAfter({ order: [["id", "asc"]], key: null, direction: "forward" }, 100);
        expect((rows as readonly Row[]).map(({ id }) => id)).toEqual(expected(isIn("owner", list)));
        const text = engine.statements.at(-1)?.sql ?? "";
        texts.set(text, (texts.get(text) ?? 0) + 1);
      }

    expect(texts.size).toBe(name === "PostgreSQL" ? 1 : 3);
    for (const text of texts.keys()) expect(text).not.toMatch(/\b(?:[23]|40)\b(?<!\$\d+)/);
  });
});
