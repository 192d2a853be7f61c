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
        .map((last): SeekBranch => {
          const conditions = [...equal.slice(0, index), last];
          return {
            conditions: conditions.map((condition) => condition.sql),
            sortBy: sortBy(dialect, columns, conditions),
          };
        }),
    )
    .toReversed();
}

/**
 * A column that equals a value needs no sorting. One that is null neither, but only MySQL knows: PostgreSQL finds the
 * order in an index only when the column is named, and MySQL sorts when it is.
 */
function sortBy(
  dialect: SqlDialect,
  columns: readonly KeyColumn[],
  conditions: readonly Condition[],
): readonly KeyColumn[] {
  return columns.filter((_column, index) => {
    const condition = conditions[index];
    if (condition === undefined) return true;
    return condition.isNullTest ? dialect !== "mysql" : index === conditions.length - 1;
  });
}

function equals(dialect: SqlDialect, column: KeyColumn, index: number, isNull: boolean): Condition {
  return isNull
    ? { sql: sql`${column.expression} is null`, isNullTest: true }
    : { sql: sql`${column.expression} = ${keyParameter(dialect, column, index)}`, isNullTest: false };
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
