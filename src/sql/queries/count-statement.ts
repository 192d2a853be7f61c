import { type AliasedRawBuilder, type OperationNodeSource, sql } from "kysely";
import type { AnyQuery } from "../statements/any-query.ts";
import type { SqlDialect } from "../statements/sql-dialect.ts";
import { parametersOf, Statement } from "../statements/statement.ts";

/** Returns the statement that counts the rows of a query: all of them, or up to a cap. */
export function countStatement(query: AnyQuery, dialect: SqlDialect, cap: number | null): Statement {
  return new Statement(dialect, countRows(query, dialect, cap).toOperationNode(), ["total"]);
}

/**
 * Returns the query of such a statement.
 *
 * @param others columns that it selects besides the count
 */
export function countRows(
  query: AnyQuery,
  dialect: SqlDialect,
  cap: number | null,
  others: readonly AliasedRawBuilder<unknown, string>[] = [],
): OperationNodeSource {
  const bare = query.clearOrderBy();
  const light = bare.clearSelect().select(sql.lit(1).as("one"));
  const { groupBy, having, distinctOn, frontModifiers, setOperations } = query.toOperationNode();
  const isPlain =
    [groupBy, having, distinctOn, frontModifiers, setOperations].every((part) => part === undefined) &&
    parametersOf(dialect, light.toOperationNode()).length === parametersOf(dialect, query.toOperationNode()).length;
  const rows = isPlain ? light : bare;
  const count = sql`count(*)`.as("total");
  if (isPlain && cap === null) {
    const counted = bare.clearSelect().select([count, ...others]);
    if (counted.toOperationNode().with === undefined) return counted;
  }
  const inner = cap === null ? rows : rows.limit(sql.lit(cap));
  return sql`select ${sql.join([count, ...others])} from ${inner} as ${sql.id("~counted")}`;
}
