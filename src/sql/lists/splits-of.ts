import {
  ALWAYS,
  allOf,
  type Condition,
  type ConditionNode,
  type PresentValue,
  Term,
} from "../../pagination/conditions/condition.ts";
import type { RelatedNode } from "../conditions/condition-expression.ts";

/** A part of a condition that each row meets by one of some values in a column, and the other parts. */
export interface Split {
  readonly by: ValuesNode;
  readonly rest: Condition;
}

type ValuesNode = Extract<ConditionNode, { readonly kind: "in" }> | RelatedNode;

/**
 * Returns the parts of a condition whose rows can be read value by value. The branches of `some` may overlap, so it has none,
 * and values that the collation of the column compares may be equal.
 */
export function splitsOf(condition: Condition): readonly Split[] {
  const node = condition["~condition"];
  const parts = node.kind === "all" ? node.of : [node];
  return parts.flatMap((by, at): readonly Split[] =>
    isOfValues(by) ? [{ by, rest: parts.length === 1 ? ALWAYS : allOf(parts.toSpliced(at, 1).map(termOf)) }] : [],
  );
}

function isOfValues(node: ConditionNode): node is ValuesNode {
  if (node.kind === "related") return node.on.length === 1;
  // Two times may be equal without being the same object.
  return node.kind === "in" && node.isLoose !== true && !node.values.some(isTime);
}

const isTime = (value: PresentValue): boolean => value instanceof Date;
const termOf = (node: ConditionNode): Condition => new Term(node);

/** The column whose values they are. */
export function columnOf({ by }: Split): string {
  return by.kind === "in" ? by.column : (by.on[0] as RelatedNode["on"][number]).column;
}
