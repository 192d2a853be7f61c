import { GraphQLScalarType, isSpecifiedScalarType } from "graphql";

const NOTED = new WeakSet<GraphQLScalarType>();
/** Functions of `serialize` that keep all values apart: `String`, `Number`, and graphql's own if there is none. */
const KEEPING: ReadonlySet<unknown> = new Set([String, Number, new GraphQLScalarType({ name: "Plain" }).serialize]);

/** Notes that clients can tell apart all values of a scalar. */
export function noteLossless(type: GraphQLScalarType): GraphQLScalarType {
  NOTED.add(type);
  return type;
}

/** Whether a `serialize` function is known to keep all values apart. */
export function isKeeping(serialize: unknown): boolean {
  return KEEPING.has(serialize);
}

/**
 * Whether clients can tell apart all values of a scalar. A custom `serialize` may leave something out, such as all but the last
 * digits.
 */
export function isLossless(type: GraphQLScalarType): boolean {
  return isSpecifiedScalarType(type) || NOTED.has(type) || isKeeping(type.serialize);
}
