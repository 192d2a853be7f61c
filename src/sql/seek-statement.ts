import { type RawBuilder, sql } from "kysely";
import type { AnyQuery } from "./any-query.ts";
import { exactText, type KeyColumn, sortValue } from "./key-column.ts";
import { isRowValue, rowValueCondition, type SeekBranch, seekBranches } from "./seek-branches.ts";
import type { SqlDialect } from "./sql-dialect.ts";
import { Statement } from "./statement.ts";

/** Generated names end in letters, because plugins that rename columns treat digits specially. */
const letter = (index: number): string => String.fromCharCode(97 + index);
/** Returns the column that holds the exact text of a key column. */
export const textColumn = (index: number): string => `~k${letter(index)}`;
const sortColumn = (index: number): string => `~s${letter(index)}`;
const BRANCH = "~branch";

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
  const base = query
    .clearOrderBy()
    .select(columns.map((column, index) => exactText(dialect, column).as(textColumn(index))));
  const isPlain = query.toOperationNode().with === undefined;
  if (isPlain && isNull === null) return new Statement(dialect, sorted(base, columns, limit).toOperationNode());
  if (isPlain && isNull !== null && isRowValue(dialect, columns))
    return new Statement(
      dialect,
      sorted(base.where(rowValueCondition(dialect, columns) as never), columns, limit).toOperationNode(),
    );
  const branches = isNull === null ? [{ conditions: [], sortBy: columns }] : seekBranches(dialect, columns, isNull);
  const [only] = branches;
  if (isPlain && branches.length === 1 && only !== undefined)
    return new Statement(dialect, sorted(limited(base, only), only.sortBy, limit).toOperationNode());
  return new Statement(dialect, union(base, dialect, branches, columns, limit).toOperationNode());
}

function sorted(query: AnyQuery, columns: readonly KeyColumn[], limit: number): AnyQuery {
  // A literal, because a planner that does not know the small limit plans for many rows.
  return columns
    .reduce((built, { expression, direction }) => built.orderBy(expression as never, direction), query)
    .limit(sql.lit(limit));
}

function limited(query: AnyQuery, { conditions }: SeekBranch): AnyQuery {
  return conditions.reduce((built: AnyQuery, condition) => built.where(condition as never), query);
}

/** Each range has its own limit, and the few rows of all ranges are sorted again. */
function union(
  base: AnyQuery,
  dialect: SqlDialect,
  branches: readonly SeekBranch[],
  columns: readonly KeyColumn[],
  limit: number,
): RawBuilder<unknown> {
  const parts = branches.map((branch, index) => {
    const hidden = columns.map((column, at) => sortValue(dialect, column).as(sortColumn(at)));
    const part = limited(base.select([...hidden, sql.lit(index).as(BRANCH)]), branch);
    return sql`select * from ${sorted(part, branch.sortBy, limit)} as ${sql.id(`~u${letter(index)}`)}`;
  });
  const order = [
    sql.id(BRANCH),
    ...columns.map(({ direction }, index) => sql`${sql.id(sortColumn(index))} ${sql.raw(direction)}`),
  ];
  return sql`select * from (${sql.join(parts, sql` union all `)}) as ${sql.id("~all")} order by ${sql.join(order)} limit ${sql.lit(limit)}`;
}
