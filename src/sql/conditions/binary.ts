import { BinaryOperationNode, type OperationNode, OperatorNode, OrNode, ParensNode, RawNode, ValueNode } from "kysely";

export type Operator = Parameters<typeof OperatorNode.create>[0];

export function binary(left: OperationNode, operator: Operator, right: OperationNode): OperationNode {
  return BinaryOperationNode.create(left, OperatorNode.create(operator), right);
}

export const NULL: ValueNode = ValueNode.createImmediate(null);

export function isNull(column: OperationNode): OperationNode {
  return binary(column, "is", NULL);
}

/** Conditions of which one must be true. */
export function anyOfNodes(...nodes: readonly OperationNode[]): OperationNode {
  return ParensNode.create(nodes.reduce(OrNode.create));
}

/** SQL with nodes in its gaps: `sqlOf("$ between $ and $", column, from, to)`. */
export function sqlOf(text: string, ...nodes: readonly OperationNode[]): OperationNode {
  return RawNode.create(text.split("$"), nodes);
}
