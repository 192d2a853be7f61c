import { ExpressionWrapper, ParensNode, ReferenceNode } from "kysely";
import { ConfigurationError } from "../core/configuration-error.ts";
import type { Condition } from "../pagination/condition.ts";
import type { AnyQuery } from "./any-query.ts";
import { conditionExpression } from "./condition-expression.ts";
import { QueryColumns } from "./query-columns.ts";
import type { SqlDialect } from "./sql-dialect.ts";

/**
 * Returns the query for the rows that meet a condition. Throws `ConfigurationError` if the condition would apply to the
 * rows before they are grouped, or if the query shows that a column does not exist.
 */
export function scopedQuery(query: AnyQuery, dialect: SqlDialect, condition: Condition): AnyQuery {
  const { groupBy, having, distinctOn, frontModifiers, setOperations } = query.toOperationNode();
  if ([groupBy, having, distinctOn, frontModifiers, setOperations].some((part) => part !== undefined))
    throw new ConfigurationError(
      "tableHandler",
      "cannot apply a rule's condition to a query with GROUP BY, HAVING, DISTINCT or a set operation: select from it as a subquery",
    );
  const node = condition["~condition"];
  if (node.kind === "always") return query;
  const columns = new QueryColumns(query);
  const expression = conditionExpression(dialect, node, (column) => {
    if (columns.lacks(column))
      throw new ConfigurationError(
        "tableHandler: the query",
        `has no column ${column}, but a rule's condition uses it`,
      );
    const node = columns.find(column).expression.toOperationNode();
    // A computed field may be raw SQL with any operators.
    return ReferenceNode.is(node) ? node : ParensNode.create(node);
  });
  return query.where(new ExpressionWrapper<any, any, boolean>(expression));
}
