import { ExpressionWrapper, type OperationNode } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { isInstance } from "../../core/describe-error.ts";
import type { Condition } from "../../pagination/conditions/condition.ts";
import { conditionExpression, HiddenTable } from "../conditions/condition-expression.ts";
import { withNames } from "../queries/query-columns.ts";
import type { QueryShape } from "../queries/query-shape.ts";
import type { AnyQuery } from "../statements/any-query.ts";

/**
 * Returns the query for the rows that meet a condition. Throws `ConfigurationError` if the condition would apply to the
 * rows before they are grouped.
 */
export function scopedQuery(query: AnyQuery, shape: QueryShape, condition: Condition): AnyQuery {
  checkRestrictable(query, shape);
  const node = condition["~condition"];
  if (node.kind === "always") return query;
  const columnOf = (column: string): OperationNode => shape.conditionColumn(query, column);
  try {
    const place = { columnOf, encode: shape.origin.encode, hidden: withNames(query) };
    return query.where(new ExpressionWrapper<any, any, boolean>(conditionExpression(shape.dialect, node, place)));
  } catch (error) {
    if (!isInstance(error, HiddenTable)) throw error;
    throw new ConfigurationError(
      `${shape.origin.label}: the query`,
      `defines ${error.table} with WITH, which hides the table that the condition of a rule looks up: rename it, or name the table with its schema, such as "public.${error.table}"`,
    );
  }
}

/** Throws `ConfigurationError` if a condition would apply to the rows before they are grouped. */
export function checkRestrictable(query: AnyQuery, shape: QueryShape): void {
  const { groupBy, having, distinctOn, frontModifiers, setOperations } = query.toOperationNode();
  if ([groupBy, having, distinctOn, frontModifiers, setOperations].some((part) => part !== undefined))
    throw new ConfigurationError(
      shape.origin.label,
      "cannot apply the condition of a rule or a filter to a query with GROUP BY, HAVING, DISTINCT or a set operation: select from it as a subquery",
    );
}
