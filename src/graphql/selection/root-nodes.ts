import { type DocumentNode, type FieldNode, Kind, type OperationDefinitionNode } from "graphql";
import { fragmentsOf } from "./fragments-of.ts";
import { selectionsOf } from "./selections-of.ts";

/**
 * The first node of each root field by its name in the response, also under `@skip`. Validation has made sure that all nodes
 * with one name select one field.
 */
export function rootNodes(
  document: DocumentNode,
  { selectionSet }: OperationDefinitionNode,
): ReadonlyMap<string, FieldNode> {
  const nodes = new Map<string, FieldNode>();
  const fragments = fragmentsOf(document);
  for (const node of selectionsOf(selectionSet, (name) => fragments.get(name))) {
    if (node.kind !== Kind.FIELD) continue;
    const key = node.alias?.value ?? node.name.value;
    if (!nodes.has(key)) nodes.set(key, node);
  }
  return nodes;
}
