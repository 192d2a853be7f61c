import { type FragmentDefinitionNode, Kind, type SelectionNode, type SelectionSetNode } from "graphql";

/**
 * The selections of one level in the order of the document: those of the set and of the fragments in it, also under `@skip`.
 * Each named fragment is read once, so this takes time linear in the document.
 */
export function* selectionsOf(
  root: SelectionSetNode,
  fragmentNamed: (name: string) => FragmentDefinitionNode | null | undefined,
): Generator<SelectionNode, void, undefined> {
  const spread = new Set<string>();
  const open = root.selections.toReversed();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node;
    if (node.kind === Kind.FIELD || (node.kind === Kind.FRAGMENT_SPREAD && spread.has(node.name.value))) continue;
    if (node.kind === Kind.FRAGMENT_SPREAD) spread.add(node.name.value);
    const { selectionSet } = node.kind === Kind.INLINE_FRAGMENT ? node : (fragmentNamed(node.name.value) ?? {});
    for (const selection of selectionSet?.selections.toReversed() ?? []) open.push(selection);
  }
}
