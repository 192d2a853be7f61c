import { type GraphQLObjectType, type GraphQLSchema, isUnionType } from "graphql";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { decidesByCaller } from "../../http/access/gate-node.ts";
import type { Coordinates } from "./coordinates.ts";

/**
 * Rejects rules about an entity of a subgraph that its type does not load. Its objects would be the representations that the
 * client sent, so the client would choose the values that the rules decide about.
 */
export function checkEntities(schema: GraphQLSchema, coordinates: Coordinates): void {
  const entities = schema.getType("_Entity");
  if (!isUnionType(entities)) return;
  for (const type of entities.getTypes()) {
    if (loadsReference(type)) continue;
    const place = guardedPlace(type, coordinates);
    if (place !== null)
      throw new ConfigurationError(
        `Graph.rules[${JSON.stringify(place)}]`,
        `guards the entity ${type.name}, which has no __resolveReference: its objects would be what the client sent. Add a __resolveReference to ${type.name} that loads the object by its key`,
      );
  }
}

/** The first place that decides about objects of this type. A gate of a field may also decide about the caller alone. */
function guardedPlace(type: GraphQLObjectType, coordinates: Coordinates): string | null {
  if (coordinates.ofType(type.name) !== null) return type.name;
  const field = Object.keys(type.getFields()).find((name) => {
    const gate = coordinates.ofField(type.name, name);
    return gate !== null && !decidesByCaller(gate);
  });
  return field === undefined ? null : `${type.name}.${field}`;
}

/** Whether the type has a `__resolveReference`, which `@apollo/subgraph` and the libraries upon it keep here. */
function loadsReference({ extensions }: GraphQLObjectType): boolean {
  const { apollo } = extensions as {
    readonly apollo?: { readonly subgraph?: { readonly resolveReference?: unknown } };
  };
  return typeof apollo?.subgraph?.resolveReference === "function";
}
