import { type GraphQLSchema, isObjectType } from "graphql";
import { isPagedField } from "../../graphql/connection/has-connections.ts";
import type { Operation } from "../targets/operation.ts";
import { operationFor } from "../targets/operation-for.ts";
import { waysToTypes } from "../targets/ways-to-types.ts";

/**
 * The queries that may read each paginated field of a schema, by the field, such as `Author.books`. The type of the field decides,
 * because the resolver may be that of another library, or wrapped by one.
 */
export function listOperations(schema: GraphQLSchema): ReadonlyMap<string, readonly Operation[]> {
  const ways = waysToTypes(schema, () => true);
  const owners = Object.values(schema.getTypeMap()).filter(isObjectType);
  return new Map(
    owners.flatMap((owner) =>
      Object.values(owner.getFields())
        .filter(isPagedField)
        .map((field) => [
          `${owner.name}.${field.name}`,
          (ways.get(owner.name) ?? []).map((steps) => operationFor("query", [...steps, { owner: owner.name, field }])),
        ]),
    ),
  );
}
