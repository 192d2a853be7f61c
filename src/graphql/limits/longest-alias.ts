import { type DocumentNode, Kind, type SelectionSetNode } from "graphql";

/** The length of the longest alias in a document, in time linear in the document. */
export function longestAlias({ definitions }: DocumentNode): number {
  let longest = 0;
  const open: SelectionSetNode[] = [];
  for (const definition of definitions) if ("selectionSet" in definition) open.push(definition.selectionSet);
  for (let set = open.pop(); set !== undefined; set = open.pop()) {
    for (const node of set.selections) {
      if (node.kind === Kind.FIELD) longest = Math.max(longest, node.alias?.value.length ?? 0);
      if (node.kind !== Kind.FRAGMENT_SPREAD && node.selectionSet !== undefined) open.push(node.selectionSet);
    }
  }
  return longest;
}
