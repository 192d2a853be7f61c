import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
} from "graphql";
import type { CursorPagination } from "../../pagination/strategies/cursor-pagination.ts";

/** The extensions that mark a field declared with `connection`, with the columns that its lists are sorted by if the client does not choose. */
export function connectionExtensions({
  order,
  decodeCursor,
}: CursorPagination<any, any>): Readonly<Record<string, unknown>> {
  const sortColumns = order.map(([column]) => column);
  return { isConnection: true, sortColumns, ...(decodeCursor === undefined ? {} : { decodesCursors: true }) };
}

/** The fields of a schema that were declared with `connection`, with the names of their types. */
export function connectionsIn(
  schema: GraphQLSchema,
): readonly { readonly owner: string; readonly field: GraphQLField<unknown, unknown> }[] {
  return Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type)
      ? Object.values(type.getFields())
          .filter(({ extensions }) => extensions["isConnection"] === true)
          .map((field) => ({ owner: type.name, field }))
      : [],
  );
}

/** The type of the items of a connection: of its `nodes`, or of the `node` of its `edges`. `null` for any other type. */
export function itemsOfConnection(connection: GraphQLNamedType): GraphQLObjectType | null {
  const items = typeOf(connection, "nodes") ?? typeOf(typeOf(connection, "edges"), "node");
  return isObjectType(items) ? items : null;
}

function typeOf(type: GraphQLNamedType | undefined, name: string): GraphQLNamedType | undefined {
  const field = isObjectType(type) ? type.getFields()[name] : undefined;
  return field && getNamedType(field.type);
}

/** Whether a field returns a Relay connection, of whatever library. */
export function isPagedField({ type }: Pick<GraphQLField<unknown, unknown>, "type">): boolean {
  const connection = getNamedType(type);
  return isObjectType(connection) && "pageInfo" in connection.getFields() && itemsOfConnection(connection) !== null;
}

/** Whether a schema has connections, and so hands out cursors. */
export function hasConnections(schema: GraphQLSchema): boolean {
  return connectionsIn(schema).length > 0;
}
