import { type OperationNodeSource, type RawBuilder, sql } from "kysely";
import type { AnyQuery } from "../statements/any-query.ts";
import type { SqlDialect } from "../statements/sql-dialect.ts";
import { SELECTED, Statement } from "../statements/statement.ts";
import { type KeyColumn, keyText, sortTerms, sortValue } from "./key-column.ts";
import { isRowValue, rowValueCondition, type SeekBranch, seekBranches, wholeBranches } from "./seek-branches.ts";

/** Generated names end in letters, because plugins that rename columns treat digits specially. */
const letter = (index: number): string => String.fromCharCode(97 + index);
/** Returns the column that holds the exact text of a key column. */
export const textColumn = (index: number): string => `~k${letter(index)}`;
const sortColumn = (index: number): string => `~s${letter(index)}`;
const RANGE = "~range";

/** Whether a column exists only for the handler and is removed from the items. */
export function isHidden(column: string): boolean {
  return column.startsWith("~");
}

/**
 * Returns the statement for the rows after a key in the order of the columns, or from the beginning without a key. Its
 * form depends on the dialect, the columns and the nulls in the key, but never on the values.
 */
export function seekStatement(
  query: AnyQuery,
  dialect: SqlDialect,
  columns: readonly KeyColumn[],
  isNull: readonly boolean[] | null,
  limit: number,
): Statement {
  const base = query.select(columns.map((column, index) => keyText(dialect, column).as(textColumn(index))));
  const [only, ...others] = seekRanges(dialect, columns, isNull);
  const isPlain = query.toOperationNode().with === undefined;
  const selected = [SELECTED, ...columns.map((_column, index) => textColumn(index))];
  if (isPlain && only !== undefined && others.length === 0)
    return new Statement(dialect, rangeRows(base, dialect, only, limit).toOperationNode(), selected);
  const rows = mergedRows(seekParts(base, dialect, columns, isNull, limit), dialect, columns, limit);
  return new Statement(dialect, rows.toOperationNode(), [...selected, ...partColumns(columns)]);
}

/**
 * Returns the rows of each index range after a key as a query with its own limit. They have the columns of
 * `resultOrder`.
 */
export function seekParts(
  query: AnyQuery,
  dialect: SqlDialect,
  columns: readonly KeyColumn[],
  isNull: readonly boolean[] | null,
  limit: number,
): readonly RawBuilder<unknown>[] {
  const hidden = columns.map((column, at) => sortValue(dialect, column).as(sortColumn(at)));
  return seekRanges(dialect, columns, isNull).map((range, index) => {
    const part = query.select([...hidden, sql.lit(index).as(RANGE)]);
    return sql`select * from ${rangeRows(part, dialect, range, limit)} as ${sql.id(`~u${letter(index)}`)}`;
  });
}

/** Returns the columns that `seekParts` adds, in order. */
export function partColumns(columns: readonly KeyColumn[]): readonly string[] {
  return [...columns.map((_column, index) => sortColumn(index)), RANGE];
}

/** Returns the first rows of all ranges. The few rows of the ranges are sorted again. */
export function mergedRows(
  parts: readonly OperationNodeSource[],
  dialect: SqlDialect,
  columns: readonly KeyColumn[],
  limit: number,
): RawBuilder<unknown> {
  return sql`select * from (${sql.join(parts, sql` union all `)}) as ${sql.id("~all")} order by ${sql.join(resultOrder(dialect, columns))} limit ${sql.lit(limit)}`;
}

/** Returns the order of rows from several ranges. */
export function resultOrder(dialect: SqlDialect, columns: readonly KeyColumn[]): readonly RawBuilder<unknown>[] {
  const order = columns.flatMap((column, index) => sortTerms(dialect, column, sql.id(sortColumn(index))));
  return [sql`${sql.id(RANGE)}`, ...order];
}

/** Returns the exact texts of such rows. */
export function resultTexts(dialect: SqlDialect, columns: readonly KeyColumn[]): readonly RawBuilder<unknown>[] {
  return columns.map((column, index) => {
    const text = keyText(dialect, { ...column, expression: sql.id(sortColumn(index)) });
    return sql`${text} as ${sql.id(textColumn(index))}`;
  });
}

/** The index ranges after the key, closest first. */
function seekRanges(
  dialect: SqlDialect,
  columns: readonly KeyColumn[],
  isNull: readonly boolean[] | null,
): readonly SeekBranch[] {
  if (isNull === null) return wholeBranches(dialect, columns);
  if (isRowValue(dialect, columns)) return [{ conditions: [rowValueCondition(dialect, columns)], sortBy: columns }];
  return seekBranches(dialect, columns, isNull);
}

function rangeRows(query: AnyQuery, dialect: SqlDialect, { conditions, sortBy }: SeekBranch, limit: number): AnyQuery {
  const limited = conditions.reduce((built: AnyQuery, condition) => built.where(condition as never), query);
  // A literal, because a planner that does not know the small limit plans for many rows.
  return sortBy
    .flatMap((column) => sortTerms(dialect, column))
    .reduce((built, term) => built.orderBy(term as never), limited.clearOrderBy())
    .limit(sql.lit(limit));
}
