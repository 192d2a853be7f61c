import { KEYS, KeyMisfit, type KeyTuple } from "../../pagination/keys/key-tuple.ts";
import type { SqlDialect } from "../statements/sql-dialect.ts";
import { driverValue, type KeyColumn, keyValueFrom } from "./key-column.ts";
import { repeatedName } from "./query-columns.ts";
import { isHidden, textColumn } from "./seek-statement.ts";
import type { Selection } from "./selection.ts";

type Row = Record<string, unknown>;

/**
 * Returns the rows as the author selected them, with their keys attached to the list, or `null` if there is a null in a
 * column that the catalogue says is never null.
 *
 * @param selection the part of the columns that was read; `null` for all of them
 */
export function keyedItems(
  rows: readonly Row[],
  columns: readonly KeyColumn[],
  dialect: SqlDialect,
  selection: Selection | null,
): readonly Row[] | null {
  const texts = columns.map((_column, index) => textColumn(index));
  const required = texts.filter((_text, index) => columns[index]?.isNullable === false);
  const visible = Object.keys(rows[0] ?? {}).filter((column) => !isHidden(column));
  if (dialect === "sqlite") checkNames(visible);
  // All objects have one shape from the start: copying it is four times as fast as deleting the hidden columns.
  const blank: Row = {};
  for (const column of visible) blank[column] = null;
  const copyBlank = (): Row => (selection === null ? { ...blank } : { __proto__: selection.rows, ...blank });
  const items: Row[] = [];
  for (const row of rows) {
    for (const text of required) if (row[text] === null) return null;
    const item = copyBlank();
    for (const column of visible) item[column] = row[column];
    items.push(item);
  }
  const keyAt = (index: number): KeyTuple => texts.map((text) => keyValueFrom(dialect, rows[index]?.[text]));
  return Object.defineProperty(items, KEYS, { value: keyAt });
}

/** Throws `ConfigurationError` for a column that SQLite has renamed, because a query in the statement has its name twice. */
function checkNames(columns: readonly string[]): void {
  const renamed = columns.find((column) => /:\d+$/.test(column));
  const name = renamed?.slice(0, renamed.lastIndexOf(":"));
  if (name !== undefined && columns.includes(name)) throw repeatedName("the query", name);
}

/** Returns a key as the driver needs it. Throws `KeyMisfit` if it does not fit the columns. */
export function keyValues(dialect: SqlDialect, columns: readonly KeyColumn[], key: KeyTuple): readonly unknown[] {
  return columns.map((column, index) => {
    const value = driverValue(dialect, column, key[index] ?? null);
    if (value === undefined) throw new KeyMisfit("a cursor value does not fit its column");
    return value;
  });
}

/**
 * Returns the misfit that an error of the database means. The database's message is left out, because it repeats the
 * value.
 */
export function misfitOf(error: unknown): KeyMisfit | null {
  if (!isDataException(error)) return null;
  return new KeyMisfit(`a cursor value does not fit its column (SQLSTATE ${(error as { code: string }).code})`);
}

/**
 * Whether an error means that a value does not fit its column. PostgreSQL's class 22 is a text that is not a valid number
 * or time, or is out of range. MySQL rejects text that the character set of the column cannot hold.
 */
export function isDataException(error: unknown): boolean {
  const code: unknown = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && (/^22[0-9A-Z]{3}$/.test(code) || code === "ER_CANT_AGGREGATE_2COLLATIONS");
}
