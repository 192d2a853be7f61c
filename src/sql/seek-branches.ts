import { type RawBuilder, sql } from "kysely";
import { type KeyColumn, keyParameter } from "./key-column.ts";
import { isNullLast, type SqlDialect } from "./sql-dialect.ts";

/** One range of the index: columns that equal the key, then one that lies beyond it. */
export interface SeekBranch {
  readonly conditions: readonly RawBuilder<unknown>[];
  /** Columns from here on still differ within the range. */
  readonly from: number;
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
  const equal = columns.map((column, index) =>
    isNull[index] === true
      ? sql`${column.expression} is null`
      : sql`${column.expression} = ${keyParameter(dialect, column, index)}`,
  );
  return columns
    .flatMap((column, index) =>
      beyond(dialect, column, index, isNull[index] === true)
        .toReversed()
        .map((condition): SeekBranch => ({ conditions: [...equal.slice(0, index), condition], from: index })),
    )
    .toReversed();
}

/** What comes after a value in one column, in order. */
function beyond(
  dialect: SqlDialect,
  column: KeyColumn,
  index: number,
  isNull: boolean,
): readonly RawBuilder<unknown>[] {
  const { expression, direction, isNullable } = column;
  // Whether nulls are at the far end, seen in the direction of this column.
  const isNullAhead = isNullLast(dialect) === (direction === "asc");
  if (isNull) return isNullAhead ? [] : [sql`${expression} is not null`];
  const value = keyParameter(dialect, column, index);
  const rest = direction === "asc" ? sql`${expression} > ${value}` : sql`${expression} < ${value}`;
  return isNullAhead && isNullable ? [rest, sql`${expression} is null`] : [rest];
}

/** Whether one comparison of row values is the same range: no nulls, all columns one way, on an engine that seeks by it. */
export function isRowValue(dialect: SqlDialect, columns: readonly KeyColumn[]): boolean {
  return (
    dialect !== "mysql" &&
    columns.every(({ isNullable, direction }) => !isNullable && direction === columns[0]?.direction)
  );
}

/** That comparison. */
export function rowValueCondition(dialect: SqlDialect, columns: readonly KeyColumn[]): RawBuilder<unknown> {
  const left = sql.join(columns.map(({ expression }) => expression));
  const right = sql.join(columns.map((column, index) => keyParameter(dialect, column, index)));
  return columns[0]?.direction === "asc" ? sql`(${left}) > (${right})` : sql`(${left}) < (${right})`;
}
