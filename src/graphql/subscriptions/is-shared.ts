import { type GraphQLSchema, Kind, type OperationDefinitionNode } from "graphql";

/** Whether the author said that the events of this subscription do not depend on the caller. */
export function isShared(schema: GraphQLSchema, { selectionSet }: OperationDefinitionNode): boolean {
  const fields = schema.getSubscriptionType()?.getFields() ?? {};
  return selectionSet.selections.some(
    (selection) => selection.kind === Kind.FIELD && fields[selection.name.value]?.extensions["shared"] === true,
  );
}
