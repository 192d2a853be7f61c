import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { type Condition, isEqual, isIn, not } from "portico";
import { tableHandler } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Engine, type EngineName, engineNames, openEngine } from "../../../lab/servers/engines.ts";

/** A column whose `=` is wider than `===`, the value that a row has, and texts that only `=` finds. */
const loose: Readonly<Record<EngineName, readonly (readonly [string, string, string | number, readonly string[]])[]>> =
  {
    PostgreSQL: [
      ["an integer", "integer", 1, ["01", " 1", "+1"]],
      ["a UUID", "uuid", "0b1f24a2-5a5c-4d6e-8a5e-8f1f0c3a9d10", ["0B1F24A2-5A5C-4D6E-8A5E-8F1F0C3A9D10"]],
      ["a text without case", "text collate without_case", "ann", ["ANN", "Ann"]],
    ],
    MariaDB: [
      ["an integer", "integer", 1, ["01", "1abc", "1 "]],
      ["a text of the default collation", "varchar(50) collate utf8mb4_general_ci", "ann", ["ANN", "ann ", "änn"]],
      ["a text in latin1", "varchar(50) character set latin1", "ann", ["ANN", "ann "]],
    ],
    SQLite: [
      ["an integer", "integer", 1, ["01", " 1", "1.0"]],
      ["a text without case", "text collate nocase", "ann", ["ANN", "Ann"]],
      ["a text without spaces at the end", "text collate rtrim", "ann", ["ann "]],
    ],
  };

describe.each(engineNames)("the condition of a rule on %s", (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(name, `portico_exact_${randomUUID().slice(0, 8)}`);
    if (name === "PostgreSQL")
      await sql
        .raw("create collation without_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
        .execute(engine.database);
    for (const [index, [, type, value]] of loose[name].entries()) {
      for (const table of ["rows", "others"])
        await sql
          .raw(`create table ${table}_${index} (id integer primary key, owner ${type})`)
          .execute(engine.database);
      await engine.database
        .insertInto(`rows_${index}`)
        .values([{ id: 1, owner: value }])
        .execute();
    }
  });
  afterAll(() => engine?.close());

  const count = (index: number, condition: Condition): Promise<number> =>
    tableHandler(engine.database.selectFrom(`rows_${index}`).selectAll() as never)
      .scopedTo(condition)
      .getTotalItems();

  describe.each(loose[name].map(([label, , value, texts], index) => [label, index, value, texts] as const))(
    "over %s",
    (_label, index, value, texts) => {
      const another = String(value).replace(/.$/, "2");

      it("matches its own value, also as text", async () => {
        for (const condition of [
          isEqual("owner", value),
          isEqual("owner", String(value)),
          isIn("owner", [String(value), another]),
        ])
          expect(await count(index, condition)).toBe(1);
        expect(await count(index, not(isEqual("owner", String(value))))).toBe(0);
      });

      it.each(texts)("does not match %j", async (text) => {
        // The engine alone would find the row.
        const { rows } = await sql`select id from ${sql.table(`rows_${index}`)} where owner = ${text}`.execute(
          engine.database,
        );
        expect(rows).toHaveLength(1);

        expect(await count(index, isEqual("owner", text))).toBe(0);
        expect(await count(index, isIn("owner", [text, another]))).toBe(0);
        expect(await count(index, not(isEqual("owner", text)))).toBe(1);
      });
    },
  );

  it("looks up another table exactly", async () => {
    const index = loose[name].findIndex(([label]) => label.startsWith("a text"));
    const [, , value, [other]] = loose[name][index] as (typeof loose)[EngineName][number];
    await engine.database
      .insertInto(`others_${index}`)
      .values([{ id: 1, owner: other }])
      .execute();
    const related = isIn("owner", { from: `others_${index}`, column: "owner" });

    expect(await count(index, related)).toBe(0);
    expect(await count(index, not(related))).toBe(1);
    await engine.database
      .insertInto(`others_${index}`)
      .values([{ id: 2, owner: value }])
      .execute();
    expect(await count(index, related)).toBe(1);
    expect(await count(index, not(related))).toBe(0);
  });

  it("is not a number for text that begins with it", async () => {
    await sql.raw(`create table texts (id integer primary key, owner varchar(20))`).execute(engine.database);
    await engine.database
      .insertInto("texts")
      .values(["1abc", "abc"].map((owner, at) => ({ id: at + 1, owner })))
      .execute();
    const total = (value: number): Promise<number> =>
      tableHandler(engine.database.selectFrom("texts").selectAll() as never)
        .scopedTo(isEqual("owner", value))
        .getTotalItems();

    expect(await total(0)).toBe(0);
    expect(await total(1)).toBe(0);
  });
});
