import { randomUUID } from "node:crypto";
import { Kysely, PostgresDialect, sql } from "kysely";
import { Pool } from "pg";
import { type Condition, isInRange, not } from "portico";
import { tableHandler } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Engine, type EngineName, engineNames, openEngine } from "../../../lab/servers/engines.ts";

type Columns = Readonly<Record<string, string>>;
type Bound = number | bigint | Date;

const NUMBERS: Readonly<Record<EngineName, Columns>> = {
  PostgreSQL: { small: "integer", large: "bigint", exact: "numeric(40, 12)", floating: "double precision" },
  MariaDB: { small: "integer", large: "bigint", exact: "decimal(40, 12)", floating: "double" },
  SQLite: { small: "integer", large: "integer", floating: "real" },
};
/** The texts of numbers, and the columns that can hold them. */
const NUMBER_ROWS: readonly (readonly [text: string, ...columns: string[]])[] = [
  ["-3", "small", "large", "exact", "floating"],
  ["0", "small", "large", "exact", "floating"],
  ["1", "small", "large", "exact", "floating"],
  ["2147483647", "small", "large", "exact", "floating"],
  ["9007199254740992", "large", "exact", "floating"],
  ["9007199254740993", "large", "exact"],
  ["9223372036854775807", "large", "exact"],
  ["-9223372036854775808", "large", "exact"],
  ["0.1", "exact", "floating"],
  ["1.5", "exact", "floating"],
  ["1.500000000001", "exact"],
  ["590295810358705651712", "exact", "floating"],
];
const NUMBER_BOUNDS = [
  -3,
  0,
  1,
  0.1,
  1.5,
  1e-7,
  2 ** 31,
  2 ** 53,
  2 ** 69,
  1e21,
  2n ** 53n + 1n,
  2n ** 63n - 1n,
  -(2n ** 63n),
  2n ** 64n,
];

const TIMES: Readonly<Record<EngineName, Columns>> = {
  PostgreSQL: { zoned: "timestamptz", local: "timestamp", day: "date" },
  MariaDB: { zoned: "timestamp(6) null", local: "datetime(6)", day: "date" },
  SQLite: { zoned: "text" },
};
const TIME_ROWS = [
  "1999-12-31 23:59:59.999999",
  "2026-03-29 00:00:00.000000",
  "2026-03-29 00:00:00.000001",
  "2026-07-01 12:00:00.123456",
  "2026-07-01 12:00:00.123000",
  "2026-07-02 00:00:00.000000",
  "2026-12-31 23:59:59.999000",
];

const HOLDS = {
  gt: (order: number) => order > 0,
  gte: (order: number) => order >= 0,
  lt: (order: number) => order < 0,
  lte: (order: number) => order <= 0,
} as const;

describe.each(engineNames)("a range on %s", (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(name, `portico_range_${randomUUID().slice(0, 8)}`);
  });
  afterAll(() => engine?.close());

  /** Creates a table with one value in each row, written as text in place of a parameter, which a driver could round. */
  async function fill(
    table: string,
    columns: Columns,
    values: readonly (readonly [column: string, text: string])[],
  ): Promise<void> {
    const lines = Object.entries(columns).map(([column, type]) => `, ${column} ${type}`);
    await sql.raw(`create table ${table} (id integer primary key${lines.join("")})`).execute(engine.database);
    await sql.raw(`insert into ${table} (id) values (0)`).execute(engine.database);
    for (const [index, [column, text]] of values.entries())
      await sql.raw(`insert into ${table} (id, ${column}) values (${index + 1}, ${text})`).execute(engine.database);
  }

  /** The operators and bounds for which the database finds other rows than JavaScript. */
  async function differences(
    database: Kysely<any>,
    table: string,
    column: string,
    bounds: readonly Bound[],
    orders: (bound: Bound) => readonly (readonly [id: number, order: number | null])[],
  ): Promise<readonly object[]> {
    const found: object[] = [];
    const list = tableHandler(database.selectFrom(table).select(["id", column]) as never).selecting(["id"]);
    const idsOf = async (condition: Condition): Promise<readonly number[]> =>
      ((await list.scopedTo(condition).getItems(0, 1000)) as readonly { id: number }[]).map(({ id }) => id);
    for (const operator of Object.keys(HOLDS) as (keyof typeof HOLDS)[])
      for (const bound of bounds) {
        const label = `${column} ${operator} ${bound instanceof Date ? bound.toISOString() : bound}`;
        const range: Condition = isInRange(column, { [operator]: bound });
        const rows = orders(bound);
        const isMet = (order: number | null): boolean => order !== null && HOLDS[operator](order);
        const [met, unmet] = [true, false].map((wanted) =>
          rows.filter(([, order]) => isMet(order) === wanted).map(([id]) => id),
        );

        const [seen, others] = [await idsOf(range), await idsOf(not(range))];
        if (String(seen) !== String(met) || String(others) !== String(unmet)) found.push({ label, seen, others, met });
      }
    return found;
  }

  it("of numbers decides as JavaScript does: beyond a double, between integers and beyond the column's type", async () => {
    const values = NUMBER_ROWS.flatMap(([text, ...columns]) =>
      columns.filter((column) => column in NUMBERS[name]).map((column) => [column, text] as const),
    );
    await fill("numbers", NUMBERS[name], values);

    for (const column of Object.keys(NUMBERS[name]))
      expect(
        await differences(engine.database, "numbers", column, NUMBER_BOUNDS, (bound) => [
          [0, null],
          ...values.map(
            ([of, text], index) =>
              [index + 1, of === column ? orderOf(text, held(name, column, bound)) : null] as const,
          ),
        ]),
      ).toEqual([]);
  });

  it.each(zonesOf(name))(
    "of times decides as JavaScript does about the value in a row, with the time zone %s in the process and %s in the session",
    async (zone, session) => {
      const given = process.env["TZ"];
      process.env["TZ"] = zone;
      const table = `times_${zone.replace("/", "_")}`.toLowerCase();
      const database = name === "PostgreSQL" ? inZone(engine.address, session) : engine.database;
      try {
        const values = Object.keys(TIMES[name]).flatMap((column) =>
          TIME_ROWS.map(
            (text) => [column, `'${name === "SQLite" ? `${text.slice(0, 23).replace(" ", "T")}Z` : text}'`] as const,
          ),
        );
        await fill(table, TIMES[name], values);
        const rows = (await database.selectFrom(table).selectAll().orderBy("id").execute()) as readonly Readonly<
          Record<string, string | Date | null>
        >[];
        const times = rows
          .flatMap((row) => Object.keys(TIMES[name]).map((column) => row[column]))
          .filter((value) => value !== null && value !== undefined);
        const bounds = new Set(times.flatMap((time) => [-1, 0, 1].map((shift) => new Date(time).getTime() + shift)));

        for (const column of Object.keys(TIMES[name]))
          expect(
            await differences(
              database,
              table,
              column,
              [...bounds].map((time) => new Date(time)),
              (bound) =>
                rows.map((row) => {
                  const value = row[column] ?? null;
                  const order = value === null ? null : new Date(value).getTime() - (bound as Date).getTime();
                  return [Number(row["id"]), order];
                }),
            ),
          ).toEqual([]);
      } finally {
        if (given === undefined) delete process.env["TZ"];
        else process.env["TZ"] = given;
        if (database !== engine.database) await database.destroy();
      }
    },
  );
});

function zonesOf(name: EngineName): readonly (readonly [process: string, session: string])[] {
  const zones = [
    ["UTC", "UTC"],
    ["America/New_York", "Asia/Kolkata"],
  ] as const;
  return name === "PostgreSQL" ? [...zones, ["Pacific/Auckland", "UTC"]] : zones;
}

function inZone(schema: string, zone: string): Kysely<any> {
  const options = `-c search_path=${schema} -c TimeZone=${zone}`;
  return new Kysely<any>({
    dialect: new PostgresDialect({
      pool: new Pool({ host: "127.0.0.1", user: "postgres", database: "test", max: 1, options }),
    }),
  });
}

/** A column of doubles compares with the nearest double, except in SQLite. */
function held(name: EngineName, column: string, bound: Bound): Bound {
  return name !== "SQLite" && column === "floating" && typeof bound === "bigint" ? BigInt(Number(bound)) : bound;
}

/** Compares a number in a row with a bound by their digits. */
function orderOf(text: string, bound: Bound): number {
  const [one, other] = [scaled(text), scaled(typeof bound === "number" ? bound.toFixed(12) : String(bound))];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** A number times 10 ** 12. A double above 10 ** 21 would be written with an exponent. */
function scaled(text: string): bigint {
  const [, sign, whole = "0", fraction = ""] =
    /^(-?)(\d+)(?:\.(\d+))?$/.exec(/e/.test(text) ? String(BigInt(Number(text))) : text) ?? [];
  const digits = BigInt(whole + fraction.padEnd(12, "0"));
  return sign === "-" ? -digits : digits;
}
