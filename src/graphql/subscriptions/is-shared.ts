import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";

/** Whether the author said that the events of this subscription do not depend on the caller. */
export function isShared(schema: GraphQLSchema, operation: OperationDefinitionNode, document: DocumentNode): boolean {
  const fields = schema.getSubscriptionType()?.getFields() ?? {};
  const fragments = new Map(
    document.definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  return rootFields(operation.selectionSet, fragments).some((name) => fields[name]?.extensions["shared"] === true);
}

/** The names of the fields, also those in fragments. Each fragment is read once: it leaves the map. */
function rootFields(
  { selections }: SelectionSetNode,
  fragments: Map<string, FragmentDefinitionNode>,
): readonly string[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection.name.value];
    if (selection.kind === Kind.INLINE_FRAGMENT) return rootFields(selection.selectionSet, fragments);
    const fragment = fragments.get(selection.name.value);
    fragments.delete(selection.name.value);
    return fragment === undefined ? [] : rootFields(fragment.selectionSet, fragments);
  });
}
