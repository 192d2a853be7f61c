import { type GraphQLField, type GraphQLSchema, isObjectType } from "graphql";
import type { CursorPagination } from "../../pagination/strategies/cursor-pagination.ts";

/** The extensions that mark a field declared with `connection`, with the columns that its lists are sorted by if the client does not choose. */
export function connectionExtensions({ order }: CursorPagination<any, any>): Readonly<Record<string, unknown>> {
  return { isConnection: true, sortColumns: order.map(([column]) => column) };
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

/** Whether a schema has connections, and so hands out cursors. */
export function hasConnections(schema: GraphQLSchema): boolean {
  return connectionsIn(schema).length > 0;
}
