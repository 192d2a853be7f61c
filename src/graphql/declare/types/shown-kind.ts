import { GraphQLBoolean, GraphQLFloat, GraphQLInt, type GraphQLNamedType } from "graphql";
import type { ShownKind } from "../../../pagination/strategies/shown-kind.ts";

/** The kind of value that a type shows. Other scalars may be numbers or text. */
export function shownKind({ name }: Pick<GraphQLNamedType, "name">): ShownKind | null {
  if (name === GraphQLInt.name || name === GraphQLFloat.name) return "numbers";
  return name === GraphQLBoolean.name ? "booleans" : null;
}
