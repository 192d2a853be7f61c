import { type RawBuilder, sql } from "kysely";
import { isNullLastByDefault, type SqlDialect } from "../statements/sql-dialect.ts";
import { isNullMoved, type KeyColumn, keyParameter } from "./key-column.ts";

/** One index range: columns that equal the key, then one column after it. */
export interface SeekBranch {
  readonly conditions: readonly RawBuilder<unknown>[];
  /** The columns to sort by, which are those that differ within the range. */
  readonly sortBy: readonly KeyColumn[];
}

interface Condition {
  readonly sql: RawBuilder<unknown>;
  readonly isNullTest: boolean;
}

/**
 * Returns the rows after a key as consecutive index ranges, closest first. Each is a true range: PostgreSQL would treat
 * an `or` over them as a filter, and MariaDB a row value.
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
 * Returns all rows as consecutive index ranges. Only PostgreSQL has indexes with nulls at either end. In the index of
 * another engine, the values and the nulls of the first column are two ranges if the order moves the nulls.
 */
export function wholeBranches(dialect: SqlDialect, columns: readonly KeyColumn[]): readonly SeekBranch[] {
  const [first] = columns;
  if (dialect === "postgres" || first === undefined || !isNullMoved(dialect, first))
    return [{ conditions: [], sortBy: columns }];
  const values: Condition = { sql: sql`${first.expression} is not null`, isNullTest: false };
  const nulls: Condition = { sql: sql`${first.expression} is null`, isNullTest: true };
  const inOrder = first.isNullLast ? [values, nulls] : [nulls, values];
  return inOrder.map((condition) => branchOf(dialect, columns, [], [condition]));
}

/**
 * A column that equals a value needs no sorting. A column that is null needs none either, but PostgreSQL uses the order
 * of an index only if the column is named.
 */
function branchOf(
  dialect: SqlDialect,
  keyColumns: readonly KeyColumn[],
  isNull: readonly boolean[],
  conditions: readonly Condition[],
): SeekBranch {
  const columns = keyColumns.map((column, index) => (index < conditions.length ? settled(dialect, column) : column));
  const plain = conditions.map((condition) => condition.sql);
  if (dialect === "mysql") {
    // To MySQL, only nulls are one index entry, whose rows are in the order of the other columns.
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
 * Within a range, a column with a condition is always null or never, so its order is that of the index. The indexes of
 * PostgreSQL have the placement of nulls in their definition, and are only used for an order that names it.
 */
function settled(dialect: SqlDialect, column: KeyColumn): KeyColumn {
  if (dialect === "postgres") return column;
  return { ...column, isNullLast: isNullLastByDefault(dialect, column.direction) };
}

/**
 * MariaDB looks up an equal or null column and then reads all of its rows, instead of starting inside them. A null next
 * to an impossible alternative is not looked up, and still part of the range.
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

/** On MySQL, an equality is written as two bounds, because it would be looked up. */
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

/** Returns the conditions for values after a value in one column, in order. */
function beyond(dialect: SqlDialect, column: KeyColumn, index: number, isNull: boolean): readonly Condition[] {
  const { expression, direction, isNullable, isNullLast } = column;
  if (isNull) return isNullLast ? [] : [{ sql: sql`${expression} is not null`, isNullTest: false }];
  const value = keyParameter(dialect, column, index);
  const rest = direction === "asc" ? sql`${expression} > ${value}` : sql`${expression} < ${value}`;
  const values: Condition = { sql: rest, isNullTest: false };
  return isNullLast && isNullable ? [values, { sql: sql`${expression} is null`, isNullTest: true }] : [values];
}

/**
 * Whether one row-value comparison is the same range: no nulls, all columns in one direction, on an engine that can
 * seek with it.
 */
export function isRowValue(dialect: SqlDialect, columns: readonly KeyColumn[]): boolean {
  const [first, ...others] = columns;
  return (
    dialect !== "mysql" &&
    others.length > 0 &&
    columns.every(({ isNullable, direction }) => !isNullable && direction === first?.direction) &&
    // SQLite seeks only by the columns before its rowid, and would scan all ties.
    others.every(({ isRowid }) => !isRowid)
  );
}

/** Returns that comparison. */
export function rowValueCondition(dialect: SqlDialect, columns: readonly KeyColumn[]): RawBuilder<unknown> {
  const left = sql.join(columns.map(({ expression }) => expression));
  const right = sql.join(columns.map((column, index) => keyParameter(dialect, column, index)));
  return columns[0]?.direction === "asc" ? sql`(${left}) > (${right})` : sql`(${left}) < (${right})`;
}
