import { GraphQLBoolean, GraphQLFloat, GraphQLID, GraphQLInt, type GraphQLLeafType, GraphQLString } from "graphql";
import { isGraphql17 } from "./graphql-major.ts";
import { inspect } from "./inspect.ts";
import type { Complete } from "./wait.ts";

/** The JavaScript expression that is true if graphql's own scalar returns the value of the variable `v` unchanged. */
export function asIsTest(type: GraphQLLeafType): string | null {
  return AS_IS.get(type) ?? null;
}

const AS_IS: ReadonlyMap<GraphQLLeafType, string> = new Map<GraphQLLeafType, string>([
  [GraphQLString, 'typeof v === "string"'],
  [GraphQLID, 'typeof v === "string"'],
  [GraphQLBoolean, 'typeof v === "boolean"'],
  [GraphQLInt, 'typeof v === "number" && (v | 0) === v'],
  [GraphQLFloat, 'typeof v === "number" && v - v === 0'],
]);

type Coerce = (value: unknown) => unknown;

/** Converts a value of a scalar or an enum to its form in the response. */
export function leafCompleter(type: GraphQLLeafType): Complete {
  const method = isGraphql17 ? "coerceOutputValue" : "serialize";
  const coercing = type as unknown as Record<typeof method, Coerce>;
  return (_run, _info, _path, value) => {
    if (value instanceof Error) throw value;
    if (value === null || value === undefined) return null;
    const coerced = coercing[method](value);
    if (coerced === null || coerced === undefined)
      throw new Error(
        `Expected \`${inspect(type)}.${method}(${inspect(value)})\` to return non-nullable value, returned: ${inspect(coerced)}`,
      );
    return coerced;
  };
}
