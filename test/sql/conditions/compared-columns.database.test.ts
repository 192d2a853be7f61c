import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { type Condition, column, exists, isEqual, isInRange, not, startsWith } from "portico";
import { tableHandler } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Engine, type EngineName, engineNames, openEngine } from "../../../lab/servers/engines.ts";

/** A type of text whose `=` ignores case. */
const LOOSE_TEXT: Readonly<Record<EngineName, string>> = {
  PostgreSQL: 'varchar(50) collate "C"',
  MariaDB: "varchar(50) collate utf8mb4_general_ci",
  SQLite: "text collate nocase",
};
/** Two columns of each type, and whether they are equal. */
const PAIRS: readonly (readonly [type: "text" | "number" | "time", one: string, other: string, isSame: boolean])[] = [
  ["text", "'ann'", "'ann'", true],
  ["text", "'ann'", "'ANN'", false],
  ["text", "'01'", "'1'", false],
  ["text", "'ann'", "null", false],
  ["text", "null", "null", true],
  ["number", "1", "1.0", true],
  ["number", "1", "2", false],
  ["number", "1", "null", false],
  ["number", "null", "null", true],
  ["time", "'2026-07-01 12:00:00'", "'2026-07-01 12:00:00'", true],
  ["time", "'2026-07-01 12:00:00'", "'2026-07-01 12:00:01'", false],
];

/** What a condition finds in a column that its type rules out. */
const REFUSED: Readonly<Record<EngineName, unknown>> = {
  PostgreSQL: "operator does not exist",
  MariaDB: [],
  SQLite: [],
};

describe.each(engineNames)("on %s", (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(name, `portico_columns_${randomUUID().slice(0, 8)}`);
    const [number, time] = name === "PostgreSQL" ? ["numeric(10, 2)", "timestamptz"] : ["decimal(10, 2)", "datetime"];
    const text = LOOSE_TEXT[name];
    await sql
      .raw(
        `create table pairs (id integer primary key, text_a ${text}, text_b ${text}, number_a integer, number_b ${number}, time_a ${time}, time_b ${time})`,
      )
      .execute(engine.database);
    for (const [index, [type, one, other]] of PAIRS.entries())
      await sql
        .raw(`insert into pairs (id, ${type}_a, ${type}_b) values (${index}, ${one}, ${other})`)
        .execute(engine.database);
    await sql
      .raw(`create table grants (organisation ${text}, place integer, reader varchar(20))`)
      .execute(engine.database);
    await sql
      .raw("insert into grants values ('ann', 0, 'eve'), ('ANN', 1, 'eve'), (null, 3, 'eve')")
      .execute(engine.database);
  });
  afterAll(() => engine?.close());

  const idsOf = async (condition: Condition): Promise<readonly number[]> => {
    const rows = await tableHandler(engine.database.selectFrom("pairs").selectAll() as never)
      .scopedTo(condition)
      .getItems(0, 100);
    return (rows as readonly { id: number }[]).map(({ id }) => id);
  };
  const outcomeOf = (condition: Condition): Promise<unknown> =>
    idsOf(condition).catch(({ message }: Error) => /^[a-z ]+/.exec(message)?.[0]);
  const all = PAIRS.map((_pair, index) => index);
  const others = (ids: readonly number[]): readonly number[] => all.filter((id) => !ids.includes(id));

  it.each(["text", "number", "time"] as const)(
    "two columns of the type %s are equal as === decides, also if both are null",
    async (type) => {
      const wanted = all.filter((id) => PAIRS[id]?.[0] !== type || PAIRS[id]?.[3]);
      const equal = isEqual(`${type}_a`, column(`${type}_b`));

      expect(await idsOf(equal)).toEqual(wanted);
      expect(await idsOf(not(equal))).toEqual(others(wanted));
    },
  );

  it("a text is not equal to a number, whose digits it has", async () => {
    await sql.raw("insert into pairs (id, text_a, number_a) values (100, '1', 1)").execute(engine.database);
    try {
      // PostgreSQL compares them as what they are, and the others would convert the text.
      expect(await idsOf(isEqual("text_a", column("number_a")))).not.toContain(100);
    } finally {
      await sql.raw("delete from pairs where id = 100").execute(engine.database);
    }
  });

  it("a column is within bounds that another one sets, and null in none", async () => {
    expect(await idsOf(isInRange("number_a", { lt: column("number_b") }))).toEqual([6]);
    expect(await idsOf(isInRange("number_a", { lte: column("number_b") }))).toEqual([5, 6]);
    expect(await idsOf(not(isInRange("number_a", { lte: column("number_b") })))).toEqual(others([5, 6]));
    expect(await idsOf(isInRange("number_b", { gt: column("number_a") }))).toEqual([6]);
  });

  it("a row of another table equals all columns exactly, and null equals nothing", async () => {
    const granted = exists({
      from: "grants",
      on: { place: "id", organisation: "text_a" },
      where: isEqual("reader", "eve"),
    });

    expect(await idsOf(granted)).toEqual([0]);
    expect(await idsOf(not(granted))).toEqual(others([0]));
  });

  it("a row of another table equals columns that a subquery computes", async () => {
    const granted = exists({
      from: "grants",
      on: { place: "id", organisation: "computed" },
      where: isEqual("reader", "eve"),
    });
    const computed = sql<string>`(select max(same.text_a) from pairs same where same.id = pairs.id)`.as("computed");
    const list = tableHandler(engine.database.selectFrom("pairs").select(["id", computed]) as never);
    const found = async (condition: Condition): Promise<readonly number[]> => {
      const rows = await list.scopedTo(condition).getItems(0, 100);
      return (rows as readonly { id: number }[]).map(({ id }) => id);
    };

    expect(await found(granted)).toEqual([0]);
    expect(await found(not(granted))).toEqual(others([0]));
  });

  it("without columns, a row of another table counts for every row or none", async () => {
    const reader = (who: string): Condition => exists({ from: "grants", where: isEqual("reader", who) });

    expect(await idsOf(reader("eve"))).toEqual(all);
    expect(await idsOf(reader("bob"))).toEqual([]);
    expect(await idsOf(not(reader("eve")))).toEqual([]);
  });

  it("a prefix is compared as startsWith in JavaScript compares it, and begins no number", async () => {
    await sql
      .raw("insert into pairs (id, text_a, number_a) values (101, 'a_b', 12), (102, 'axb', 13)")
      .execute(engine.database);
    try {
      expect(await idsOf(startsWith("text_a", "an"))).toEqual([0, 1, 3]);
      expect(await idsOf(startsWith("text_a", "AN"))).toEqual([]);
      expect(await idsOf(startsWith("text_a", "a_"))).toEqual([101]);
      expect((await idsOf(not(startsWith("text_a", "a_")))).includes(101)).toBe(false);
      expect(await idsOf(not(startsWith("text_a", "AN")))).toHaveLength(all.length + 2);
      expect(await outcomeOf(startsWith("number_a", "1"))).toEqual(REFUSED[name]);
    } finally {
      await sql.raw("delete from pairs where id > 100").execute(engine.database);
    }
  });

  it.each<[string, Condition]>([
    ["a number", isInRange("text_a", { gte: 0 })],
    ["a time", isInRange("text_a", { gte: new Date(0) })],
    ["another text", isInRange("text_a", { lte: column("text_b") })],
  ])("no text is in a range of %s", async (_what, range) => {
    expect(await outcomeOf(range)).toEqual(REFUSED[name]);
  });
});
