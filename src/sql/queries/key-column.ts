import { type Expression, type RawBuilder, sql } from "kysely";
import type { KeyValue } from "../../pagination/keys/key-tuple.ts";
import { isNullLastByDefault, type SqlDialect } from "../statements/sql-dialect.ts";
import { KeySlot } from "../statements/statement.ts";

/** A column of the order, as SQL. */
export interface KeyColumn {
  readonly expression: Expression<unknown>;
  readonly direction: "asc" | "desc";
  readonly isNullable: boolean;
  /** Whether nulls come last in this direction. */
  readonly isNullLast: boolean;
  /** Whether it is an alias of SQLite's rowid. */
  readonly isRowid: boolean;
  /** The type name in the catalogue, or an empty string if it is unknown. */
  readonly type: string;
  /** The value that the column is compared with. @default a parameter with the number of the column */
  readonly value?: RawBuilder<unknown>;
}

const MYSQL_NUMBERS = /^(?:tinyint|smallint|mediumint|int|bigint|year|bit|enum|set)(?: unsigned)?$/;
const MYSQL_DOUBLES = /^(?:float|double)/;
const MYSQL_BYTES = /binary$|blob$/;

/** Returns the column's value as exact text: a time keeps its microseconds, a large number its digits. */
export function keyText(dialect: SqlDialect, { expression, type }: KeyColumn): RawBuilder<unknown> {
  switch (dialect) {
    case "postgres":
      return sql`${expression}::text`;
    case "sqlite":
      // The type prefixes the value, because SQLite columns hold values of any type. A real is returned as it is,
      // because older versions of SQLite print very small ones inexactly.
      return sql`case typeof(${expression}) when 'null' then null when 'integer' then 'i' || cast(${expression} as text) when 'real' then ${expression} when 'blob' then 'b' || hex(${expression}) else 't' || ${expression} end`;
    case "mysql":
      if (MYSQL_BYTES.test(type)) return sql`hex(${expression})`;
      if (MYSQL_DOUBLES.test(type)) {
        // The text of a float is rounded, so the rest is appended.
        const rounded = sql`cast((${expression} + 0e0) as char)`;
        return sql`concat(${rounded}, ' ', cast((${expression} - (${rounded} + 0e0)) as char))`;
      }
      // An enum is ordered by its numbers.
      return MYSQL_NUMBERS.test(type) ? sql`cast((${expression} + 0) as char)` : sql`cast(${expression} as char)`;
  }
}

/**
 * Returns the expression that sorts the rows of several branches. MySQL merges enums of two branches into text, which
 * sorts differently from the enum's numbers.
 */
export function sortValue(dialect: SqlDialect, { expression, type }: KeyColumn): RawBuilder<unknown> {
  return dialect === "mysql" && /^(?:enum|set)$/.test(type) ? sql`(${expression} + 0)` : sql`${expression}`;
}

/** Whether nulls are placed differently from how the engine and its indexes place them. */
export function isNullMoved(dialect: SqlDialect, { direction, isNullable, isNullLast }: KeyColumn): boolean {
  return isNullable && isNullLast !== isNullLastByDefault(dialect, direction);
}

/** Returns the terms of ORDER BY that sort by an expression as the column says. */
export function sortTerms(
  dialect: SqlDialect,
  column: KeyColumn,
  expression: Expression<unknown> = column.expression,
): readonly RawBuilder<unknown>[] {
  const { direction, isNullLast } = column;
  const term = sql`${expression} ${sql.raw(direction)}`;
  if (!isNullMoved(dialect, column)) return [term];
  if (dialect === "mysql") return [sql`${expression} is null ${sql.raw(isNullLast ? "asc" : "desc")}`, term];
  return [sql`${term} ${sql.raw(isNullLast ? "nulls last" : "nulls first")}`];
}

/** Returns a parameter of the column's own type. Otherwise, the engine would compare rounded numbers. */
export function keyParameter(dialect: SqlDialect, { type, value }: KeyColumn, column: number): RawBuilder<unknown> {
  const slot = value ?? sql`${new KeySlot(column)}`;
  if (dialect !== "mysql") return slot;
  if (MYSQL_BYTES.test(type)) return sql`unhex(${slot})`;
  if (MYSQL_DOUBLES.test(type))
    return sql`((substring_index(${slot}, ' ', 1) + 0e0) + (substring_index(${slot}, ' ', -1) + 0e0))`;
  if (type.startsWith("decimal")) return sql`cast(${slot} as decimal(65, 30))`;
  if (!MYSQL_NUMBERS.test(type)) return slot;
  return type.endsWith("unsigned") ? sql`cast(${slot} as unsigned)` : sql`cast(${slot} as signed)`;
}

/** Returns the key value for the result of `exactText`. */
export function keyValueFrom(dialect: SqlDialect, value: unknown): KeyValue {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return null;
  if (dialect !== "sqlite") return value;
  const rest = value.slice(1);
  if (value.startsWith("b")) throw new TypeError("lists on SQLite cannot be ordered by a BLOB column");
  return value.startsWith("i") ? BigInt(rest) : rest;
}

/** Returns a key value in the form that the driver needs, or `undefined` if it does not fit the column. */
export function driverValue(dialect: SqlDialect, { type, isRowid }: KeyColumn, value: KeyValue): unknown {
  if (value === null) return null;
  if (dialect === "sqlite") {
    if (typeof value === "bigint") return BigInt.asIntN(64, value) === value ? value : undefined;
    if (isRowid) return undefined;
    return typeof value === "boolean" || value instanceof Date ? undefined : value;
  }
  const text = value instanceof Date ? value.toISOString() : String(value);
  // MySQL converts any text to a number, if necessary to 0.
  const isNumber = dialect === "mysql" && (MYSQL_NUMBERS.test(type) || type.startsWith("decimal"));
  return isNumber && !/^-?\d+(?:\.\d+)?$/.test(text) ? undefined : text;
}
