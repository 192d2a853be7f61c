import * as fc from "fast-check";
import { type ColumnType, createTable, type Engine, type EngineName, insertRows } from "../servers/engines.ts";

/** The kinds of columns to sort by. Each table has two columns of every kind, of which the second may be null. */
export const kinds = ["int", "bigint", "text", "time", "real", "decimal"] as const;
export type Kind = (typeof kinds)[number];
/** A row as it was generated. Values that a JavaScript number cannot hold are text. */
export type ListRow = Readonly<Record<string, string | number | null>> & {
  readonly id: number;
  readonly parent: number;
};

/** The parents of nested lists. The last one has no rows. */
export const parents: readonly number[] = [1, 2, 3, 4];
const SIZES = [0, 1, 9, 24, 45];

/** The column of a kind. */
export function columnOf(kind: Kind, isNullable: boolean): string {
  return isNullable ? `${kind}_or_null` : `${kind}_value`;
}

/** Few values, so that there are ties, and neighbours that a rounded key would not tell apart. */
const values: Readonly<Record<Kind, fc.Arbitrary<string | number>>> = {
  int: fc.integer({ min: -1, max: 2 }),
  bigint: fc.constantFrom("9007199254740992", "9007199254740993", "9223372036854775807", "-1"),
  text: fc.constantFrom("", "a", "a'b", "B", "\u00e4", "\u{1f600}"),
  time: fc.constantFrom("2024-03-01 10:00:00.123456", "2024-03-01 10:00:00.123457", "2024-03-01 10:00:00.123000"),
  real: fc.constantFrom(0.1, 1 / 3, 1e21, -1, 3.1458982871292564e-279),
  decimal: fc.constantFrom("0.1000000001", "0.1000000002", "12345678901234567890.1"),
};

/** Generates the rows of all tables, which are the same for the same seed. */
export function generateTables(seed: number): readonly (readonly ListRow[])[] {
  const cells = Object.fromEntries(
    kinds.flatMap((kind) => [
      [columnOf(kind, false), values[kind]],
      [columnOf(kind, true), fc.option(values[kind], { freq: 3 })],
    ]),
  );
  const row = fc.record({ parent: fc.constantFrom(...parents.slice(0, -1)), ...cells });
  return SIZES.map((size, table) =>
    fc.sample(row, { seed: seed + table, numRuns: size }).map((generated, at) => ({ ...generated, id: at + 1 })),
  );
}

export function tableName(table: number): string {
  return `rows_${table}`;
}

/** The columns of each table. */
export const columnTypes: Readonly<Record<string, ColumnType>> = {
  id: "key",
  parent: "int",
  ...Object.fromEntries(
    kinds.flatMap((kind): [string, ColumnType][] => [
      [columnOf(kind, false), kind],
      [columnOf(kind, true), `${kind}?`],
    ]),
  ),
};

/** Creates and fills the tables. */
export async function createTables(engine: Engine, tables: readonly (readonly ListRow[])[]): Promise<void> {
  for (const [table, rows] of tables.entries()) {
    await createTable(engine, tableName(table), columnTypes);
    await insertRows(
      engine,
      tableName(table),
      rows.map((row) => stored(engine.name, row)),
    );
  }
}

/** Returns a row as the engine's driver takes it. */
function stored(name: EngineName, row: ListRow): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => {
      if (value === null) return [column, null];
      if (column.startsWith("time_") && name === "PostgreSQL") return [column, `${value}+00`];
      if (column.startsWith("bigint_") && name === "SQLite") return [column, BigInt(value)];
      return [column, column.startsWith("decimal_") && name === "SQLite" ? Number(value) : value];
    }),
  );
}
