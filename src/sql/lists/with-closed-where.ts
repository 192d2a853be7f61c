import {
  AndNode,
  BinaryOperationNode,
  ExpressionWrapper,
  type OperationNode,
  ParensNode,
  UnaryOperationNode,
} from "kysely";
import type { AnyQuery } from "../statements/any-query.ts";

/**
 * Returns the query with its condition in parentheses, if raw SQL in it may contain an `or`. Kysely adds further
 * conditions with `and`, which would apply to the last alternative only.
 */
export function withClosedWhere(query: AnyQuery): AnyQuery {
  const where = query.toOperationNode().where?.where;
  if (where === undefined || isClosed(where)) return query;
  return query.clearWhere().where(new ExpressionWrapper<any, any, boolean>(ParensNode.create(where)));
}

function isClosed(node: OperationNode): boolean {
  if (AndNode.is(node)) return isClosed(node.left) && isClosed(node.right);
  if (BinaryOperationNode.is(node)) return isOperand(node.leftOperand) && isOperand(node.rightOperand);
  return UnaryOperationNode.is(node) ? isOperand(node.operand) : ParensNode.is(node);
}

/** Whether the SQL of a node has no operators, or none outside parentheses. */
function isOperand({ kind }: OperationNode): boolean {
  return OPERANDS.has(kind);
}

const OPERANDS: ReadonlySet<string> = new Set<OperationNode["kind"]>([
  "FunctionNode",
  "ParensNode",
  "PrimitiveValueListNode",
  "ReferenceNode",
  "SelectQueryNode",
  "ValueNode",
]);
