import { type RawBuilder, sql } from "kysely";
import { type KeyColumn, keyParameter } from "./key-column.ts";
import { isNullLast, type SqlDialect } from "./sql-dialect.ts";

/** One range of the index: columns that equal the key, then one that lies beyond it. */
export interface SeekBranch {
  readonly conditions: readonly RawBuilder<unknown>[];
  /** The columns to sort by: those that differ within the range. */
  readonly sortBy: readonly KeyColumn[];
}

interface Condition {
  readonly sql: RawBuilder<unknown>;
  readonly isNullTest: boolean;
}

/**
 * The rows beyond a key, as ranges of an index that follow each other, the nearest first. Each is a true range: an `or`
 * over them would be a filter to PostgreSQL, and a row value is one to MariaDB.
 *
 * @param isNull which columns of the key are null
 */
export function seekBranches(
  dialect: SqlDialect,
  columns: readonly KeyColumn[],
  isNull: readonly boolean[],
): readonly SeekBranch[] {
  const equal = columns.map((column, index) => equals(dialect, column, index, isNull[index] === true));
  return columns
    .flatMap((column, index) =>
      beyond(dialect, column, index, isNull[index] === true)
        .toReversed()
        .map((last) => branchOf(dialect, columns, isNull, [...equal.slice(0, index), last])),
    )
    .toReversed();
}

/**
 * A column that equals a value needs no sorting. One that is null neither, but PostgreSQL finds the order in an index only
 * when the column is named.
 */
function branchOf(
  dialect: SqlDialect,
  columns: readonly KeyColumn[],
  isNull: readonly boolean[],
  conditions: readonly Condition[],
): SeekBranch {
  const plain = conditions.map((condition) => condition.sql);
  if (dialect === "mysql") {
    // Nothing but nulls is one entry of the index to MySQL, whose rows come in the order of the other columns.
    if (conditions.every(({ isNullTest }) => isNullTest))
      return { conditions: plain, sortBy: columns.slice(conditions.length) };
    return { conditions: withoutLookup(dialect, columns, isNull, conditions), sortBy: columns };
  }
  return {
    conditions: plain,
    sortBy: columns.filter(
      (_column, index) => conditions[index]?.isNullTest !== false || index === conditions.length - 1,
    ),
  };
}

/**
 * MariaDB looks an equal column or a null up, and then reads all rows that have it, instead of starting at the place
 * inside of them. A null beside an alternative that no row can meet is nothing to look up, and still part of the range.
 */
function withoutLookup(
  dialect: SqlDialect,
  columns: readonly KeyColumn[],
  isNull: readonly boolean[],
  conditions: readonly Condition[],
): readonly RawBuilder<unknown>[] {
  const plain = conditions.map((condition) => condition.sql);
  const index = isNull.lastIndexOf(false);
  const column = columns[index];
  if (column === undefined || !conditions.some(({ isNullTest }) => isNullTest)) return plain;
  const { expression } = column;
  const value = keyParameter(dialect, column, index);
  return [sql`((${sql.join(plain, sql` and `)}) or (${expression} > ${value} and ${expression} < ${value}))`];
}

/** On MySQL by two bounds: an equality would be looked up. */
function equals(dialect: SqlDialect, column: KeyColumn, index: number, isNull: boolean): Condition {
  const { expression } = column;
  if (isNull) return { sql: sql`${expression} is null`, isNullTest: true };
  const value = keyParameter(dialect, column, index);
  return {
    sql:
      dialect === "mysql"
        ? sql`${expression} >= ${value} and ${expression} <= ${value}`
        : sql`${expression} = ${value}`,
    isNullTest: false,
  };
}

/** What comes after a value in one column, in order. */
function beyond(dialect: SqlDialect, column: KeyColumn, index: number, isNull: boolean): readonly Condition[] {
  const { expression, direction, isNullable } = column;
  // Whether nulls are at the far end, seen in the direction of this column.
  const isNullAhead = isNullLast(dialect) === (direction === "asc");
  if (isNull) return isNullAhead ? [] : [{ sql: sql`${expression} is not null`, isNullTest: false }];
  const value = keyParameter(dialect, column, index);
  const rest = direction === "asc" ? sql`${expression} > ${value}` : sql`${expression} < ${value}`;
  const values: Condition = { sql: rest, isNullTest: false };
  return isNullAhead && isNullable ? [values, { sql: sql`${expression} is null`, isNullTest: true }] : [values];
}

/** Whether one comparison of row values is the same range: no nulls, all columns one way, on an engine that seeks by it. */
export function isRowValue(dialect: SqlDialect, columns: readonly KeyColumn[]): boolean {
  const [first, ...others] = columns;
  return (
    dialect !== "mysql" &&
    others.length > 0 &&
    columns.every(({ isNullable, direction }) => !isNullable && direction === first?.direction) &&
    // SQLite seeks by the columns before its rowid only, and would read through their ties.
    others.every(({ isRowid }) => !isRowid)
  );
}

/** That comparison. */
export function rowValueCondition(dialect: SqlDialect, columns: readonly KeyColumn[]): RawBuilder<unknown> {
  const left = sql.join(columns.map(({ expression }) => expression));
  const right = sql.join(columns.map((column, index) => keyParameter(dialect, column, index)));
  return columns[0]?.direction === "asc" ? sql`(${left}) > (${right})` : sql`(${left}) < (${right})`;
}
