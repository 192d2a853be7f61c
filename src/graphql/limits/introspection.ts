import { Kind, type OperationDefinitionNode, type SelectionSetNode } from "graphql";
import type { Fragments } from "./fold.ts";

/**
 * Whether an operation asks for the schema, under whatever alias and through whatever fragment. No type can have fields of
 * these names of its own, and `__typename` says nothing about the schema that the data does not.
 */
export function asksForSchema(operation: OperationDefinitionNode, fragments: Fragments): boolean {
  const seen = new Set<string>();
  const open: SelectionSetNode[] = [operation.selectionSet];
  for (let set = open.pop(); set !== undefined; set = open.pop()) {
    for (const node of set.selections) {
      const name = node.kind === Kind.INLINE_FRAGMENT ? null : node.name.value;
      if (node.kind === Kind.FIELD && (name === "__schema" || name === "__type")) return true;
      if (node.kind !== Kind.FRAGMENT_SPREAD) {
        if (node.selectionSet !== undefined) open.push(node.selectionSet);
      } else if (name !== null && !seen.has(name)) {
        seen.add(name);
        const fragment = fragments.get(name);
        if (fragment !== undefined) open.push(fragment.selectionSet);
      }
    }
  }
  return false;
}
