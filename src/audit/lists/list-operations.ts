import type { GraphQLSchema } from "graphql";
import { connectionsIn } from "../../graphql/connection/has-connections.ts";
import type { Operation } from "../targets/operation.ts";
import { operationFor } from "../targets/operation-for.ts";
import { waysToTypes } from "../targets/ways-to-types.ts";

/** The queries that may read each connection of a schema, by the field, such as `Author.books`. */
export function listOperations(schema: GraphQLSchema): ReadonlyMap<string, readonly Operation[]> {
  const ways = waysToTypes(schema, () => true);
  return new Map(
    connectionsIn(schema).map(({ owner, field }) => [
      `${owner}.${field.name}`,
      (ways.get(owner) ?? []).map((steps) => operationFor("query", [...steps, { owner, field }])),
    ]),
  );
}
