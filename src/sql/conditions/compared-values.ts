import { FunctionNode, type OperationNode, PrimitiveValueListNode, ValueNode } from "kysely";
import type { SqlDialect } from "../statements/sql-dialect.ts";
import type { Operator } from "./binary.ts";

/**
 * Returns the operator and the operand that compare with one of the values. On PostgreSQL, several values are one array, so
 * that statements for lists of different lengths have the same text.
 */
export function comparedValues(
  dialect: SqlDialect,
  values: readonly unknown[],
  isInverted: boolean,
): [Operator, OperationNode] {
  if (values.length === 1) return [isInverted ? "<>" : "=", ValueNode.create(values[0])];
  if (dialect === "postgres")
    return [isInverted ? "<>" : "=", FunctionNode.create(isInverted ? "all" : "any", [ValueNode.create(values)])];
  // Repeating the last value up to the next power of two leaves few different texts, each of which is prepared once.
  const length = 2 ** Math.ceil(Math.log2(values.length));
  const padded = Array.from({ length }, (_, index) => values[Math.min(index, values.length - 1)]);
  return [isInverted ? "not in" : "in", PrimitiveValueListNode.create(padded)];
}
