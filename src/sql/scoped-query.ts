import { ExpressionWrapper, type OperationNode } from "kysely";
import { ConfigurationError } from "../core/configuration-error.ts";
import type { Condition } from "../pagination/condition.ts";
import type { AnyQuery } from "./any-query.ts";
import { conditionExpression } from "./conditions/condition-expression.ts";
import type { QueryShape } from "./query-shape.ts";

/**
 * Returns the query for the rows that meet a condition. Throws `ConfigurationError` if the condition would apply to the
 * rows before they are grouped.
 */
export function scopedQuery(query: AnyQuery, shape: QueryShape, condition: Condition): AnyQuery {
  const { groupBy, having, distinctOn, frontModifiers, setOperations } = query.toOperationNode();
  if ([groupBy, having, distinctOn, frontModifiers, setOperations].some((part) => part !== undefined))
    throw new ConfigurationError(
      shape.origin.label,
      "cannot apply the condition of a rule or a filter to a query with GROUP BY, HAVING, DISTINCT or a set operation: select from it as a subquery",
    );
  const node = condition["~condition"];
  if (node.kind === "always") return query;
  const columnOf = (column: string): OperationNode => shape.conditionColumn(query, column);
  const expression = conditionExpression(shape.dialect, node, columnOf, shape.origin.encode);
  return query.where(new ExpressionWrapper<any, any, boolean>(expression));
}
