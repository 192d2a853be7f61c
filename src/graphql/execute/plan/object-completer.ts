import {
  defaultTypeResolver,
  type GraphQLAbstractType,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  isIntrospectionType,
  isObjectType,
} from "graphql";
import { isGraphql17 } from "../../selection/is-graphql17.ts";
import type { BuildObject } from "./build-object.ts";
import type { CompleteValue } from "./complete-slot.ts";
import { inspect } from "./inspect.ts";
import { after, isThenable } from "./pending.ts";
import type { Path, Run } from "./run.ts";

/** Compiles the selection of a field on one of its object types. Returns the same function for the same type, or throws. */
export type BuilderOf = (type: GraphQLObjectType) => BuildObject;

/** Completes a value of an object type. */
export function objectCompleter(type: GraphQLObjectType, builderOf: BuilderOf): CompleteValue {
  // Clients do not choose the size of the schema.
  const isCounted = !isIntrospectionType(type);
  let build: BuildObject | null = null;
  return (run, info, path, value) => {
    if (value instanceof Error) throw value;
    if (value === null || value === undefined) return null;
    if (isCounted) run.countObject();
    if (type.isTypeOf) return checkedObject(type, builderOf, run, info, path, value);
    build ??= builderOf(type);
    return build(run, value, path ?? undefined);
  };
}

/** Completes a value of an interface or a union, whose object type is known only with the value. */
export function abstractCompleter(type: GraphQLAbstractType, builderOf: BuilderOf, place: string): CompleteValue {
  return (run, info, path, value) => {
    if (value instanceof Error) throw value;
    if (value === null || value === undefined) return null;
    const complete = (name: unknown): unknown => {
      run.countObject();
      const runtimeType = validRuntimeType(type, name, run, place, value);
      if (runtimeType.isTypeOf) return checkedObject(runtimeType, builderOf, run, info, path, value);
      return builderOf(runtimeType)(run, value, path ?? undefined);
    };
    const resolveType = type.resolveType ?? defaultTypeResolver;
    const name: unknown = resolveType(value, run.contextValue, info as GraphQLResolveInfo, type);
    return isThenable(name) ? after(name, complete) : complete(name);
  };
}

/** Completes a value of a type that has `isTypeOf`. */
function checkedObject(
  type: GraphQLObjectType,
  builderOf: BuilderOf,
  run: Run,
  info: GraphQLResolveInfo | null,
  path: Path | null,
  value: unknown,
): unknown {
  // graphql 16 collects the fields first, which can fail.
  if (!isGraphql17) builderOf(type);
  const next = (isOfType: unknown): unknown => {
    if (isOfType) return builderOf(type)(run, value, path ?? undefined);
    throw new GraphQLError(`Expected value of type "${type.name}" but got: ${inspect(value)}.`);
  };
  const isOfType: unknown = type.isTypeOf?.(value, run.contextValue, info as GraphQLResolveInfo);
  return isThenable(isOfType) ? after(isOfType, next) : next(isOfType);
}

/** The object type that a type resolver named. Throws graphql's error if it is not one of the abstract type. */
function validRuntimeType(
  type: GraphQLAbstractType,
  name: unknown,
  { frame: { schema } }: Run,
  place: string,
  value: unknown,
): GraphQLObjectType {
  const unresolved = `Abstract type "${type.name}" must resolve to an Object type at runtime for field "${place}"`;
  if (name === null || name === undefined)
    throw new GraphQLError(
      `${unresolved}. Either the "${type.name}" type should provide a "resolveType" function or each possible type should provide an "isTypeOf" function.`,
    );
  if (!isGraphql17 && isObjectType(name))
    throw new GraphQLError(
      "Support for returning GraphQLObjectType from resolveType was removed in graphql-js@16.0.0 please return type name instead.",
    );
  if (typeof name !== "string")
    throw new GraphQLError(
      `${unresolved} with value ${inspect(value)}, received "${inspect(name)}"${isGraphql17 ? ", which is not a valid Object type name" : ""}.`,
    );
  const found = schema.getType(name);
  if (found === undefined || found === null)
    throw new GraphQLError(
      `Abstract type "${type.name}" was resolved to a type "${name}" that does not exist inside the schema.`,
    );
  if (!isObjectType(found))
    throw new GraphQLError(`Abstract type "${type.name}" was resolved to a non-object type "${name}".`);
  if (!schema.isSubType(type, found))
    throw new GraphQLError(`Runtime Object type "${found.name}" is not a possible type for "${type.name}".`);
  return found;
}
