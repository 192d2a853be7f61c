import { sql } from "kysely";
import type { AnyQuery } from "./any-query.ts";
import type { SqlDialect } from "./sql-dialect.ts";
import { parametersOf, Statement } from "./statement.ts";

/** Returns the statement that counts the rows of a query: all of them, or up to a cap. */
export function countStatement(query: AnyQuery, dialect: SqlDialect, cap: number | null): Statement {
  const bare = query.clearOrderBy();
  const light = bare.clearSelect().select(sql.lit(1).as("one"));
  const { groupBy, having, distinctOn, frontModifiers, setOperations } = query.toOperationNode();
  const isPlain =
    [groupBy, having, distinctOn, frontModifiers, setOperations].every((part) => part === undefined) &&
    parametersOf(dialect, light.toOperationNode()).length === parametersOf(dialect, query.toOperationNode()).length;
  const rows = isPlain ? light : bare;
  if (isPlain && cap === null) {
    const counted = bare.clearSelect().select(sql`count(*)`.as("total")).toOperationNode();
    if (counted.with === undefined) return new Statement(dialect, counted);
  }
  const inner = cap === null ? rows : rows.limit(sql.lit(cap));
  return new Statement(
    dialect,
    sql`select count(*) as ${sql.id("total")} from ${inner} as ${sql.id("~counted")}`.toOperationNode(),
  );
}
