import {
  defaultTypeResolver,
  type GraphQLAbstractType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isListType,
  isNonNullType,
  isObjectType,
} from "graphql";
import { andThen } from "../../core/maybe-promise.ts";
import { type GateOf, listGuard, objectGuard, type TypeGuard } from "../schema/type-guard.ts";
import type { Coordinates } from "./coordinates.ts";

/** Returns the guard of a result of this type; `null` if no object in it has a gate. */
export function guardOf(
  schema: GraphQLSchema,
  coordinates: Coordinates,
  type: GraphQLOutputType,
  isWhole: boolean,
): TypeGuard | null {
  if (isNonNullType(type)) return guardOf(schema, coordinates, type.ofType, isWhole);
  if (isListType(type)) {
    const item = guardOf(schema, coordinates, type.ofType, isWhole);
    if (item === null) return null;
    return listGuard(item, isWhole ? "whole list" : isNonNullType(type.ofType) ? "left out" : "null");
  }
  if (isObjectType(type)) {
    const gate = coordinates.ofType(type.name);
    return gate === null ? null : objectGuard(() => gate);
  }
  if (!isAbstractType(type)) return null;
  const isGuarded = schema.getPossibleTypes(type).some(({ name }) => coordinates.ofType(name) !== null);
  return isGuarded ? objectGuard(gateByType(type, coordinates)) : null;
}

/** Asks the schema for the object type of a value, as graphql does. */
function gateByType(type: GraphQLAbstractType, coordinates: Coordinates): GateOf {
  const resolve = type.resolveType ?? defaultTypeResolver;
  return (object, graph, info) =>
    andThen(resolve(object, graph, info, type) as string | undefined, (name) => {
      // Otherwise graphql could find a type with a gate that was not asked.
      if (typeof name !== "string") throw new Error(`resolveType of ${type.name} must return the name of a type`);
      return coordinates.ofType(name);
    });
}
