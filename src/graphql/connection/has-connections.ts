import { type GraphQLSchema, isObjectType } from "graphql";

/** What a field that `connection` declared says of itself. */
export const connectionExtensions = { isConnection: true } as const;

/** Whether a schema has lists with cursors. */
export function hasConnections(schema: GraphQLSchema): boolean {
  return Object.values(schema.getTypeMap()).some(
    (type) =>
      isObjectType(type) &&
      Object.values(type.getFields()).some(({ extensions }) => extensions["isConnection"] === true),
  );
}
