import { type DocumentNode, type FragmentDefinitionNode, Kind } from "graphql";

/** The fragments of a document by name. */
export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/**
 * The fragments of a document. If two have the same name, the last one is used, as in graphql, and validation rejects
 * both.
 */
export function fragmentsOf(document: DocumentNode): Fragments {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  return fragments;
}

/** The fragments of a document in the form of `info.fragments`. */
export function fragmentRecordOf(document: DocumentNode): Readonly<Record<string, FragmentDefinitionNode>> {
  const fragments = Object.create(null) as Record<string, FragmentDefinitionNode>;
  for (const [name, fragment] of fragmentsOf(document)) fragments[name] = fragment;
  return fragments;
}
