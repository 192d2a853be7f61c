import { type GraphQLNamedType, type GraphQLObjectType, getNamedType, isObjectType } from "graphql";

/** The type of the items of a connection; `null` for any other type. */
export function itemsOf(connection: GraphQLNamedType): GraphQLObjectType | null {
  const nodes = isObjectType(connection) ? connection.getFields()["nodes"] : undefined;
  const items = nodes === undefined ? undefined : getNamedType(nodes.type);
  return isObjectType(items) ? items : null;
}
