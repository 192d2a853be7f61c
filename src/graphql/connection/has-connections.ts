import { type GraphQLSchema, isObjectType } from "graphql";

/** The extensions that mark a field declared with `connection`. */
export const connectionExtensions = { isConnection: true } as const;

/** Whether a schema has connections, and so hands out cursors. */
export function hasConnections(schema: GraphQLSchema): boolean {
  return Object.values(schema.getTypeMap()).some(
    (type) =>
      isObjectType(type) &&
      Object.values(type.getFields()).some(({ extensions }) => extensions["isConnection"] === true),
  );
}
