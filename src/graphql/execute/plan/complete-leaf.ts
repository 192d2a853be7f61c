import { GraphQLBoolean, GraphQLFloat, GraphQLID, GraphQLInt, type GraphQLLeafType, GraphQLString } from "graphql";
import { isGraphql17 } from "./graphql-major.ts";
import { inspect } from "./inspect.ts";
import type { Complete } from "./wait.ts";

/** The values that one of graphql's own scalars returns unchanged. */
export type AsIs = "string" | "boolean" | "int" | "float";

/** Which values a type returns unchanged; `null` for enums and custom scalars. */
export function asIsOf(type: GraphQLLeafType | null): AsIs | null {
  return type === null ? null : (AS_IS.get(type) ?? null);
}

const AS_IS: ReadonlyMap<GraphQLLeafType, AsIs> = new Map<GraphQLLeafType, AsIs>([
  [GraphQLString, "string"],
  [GraphQLID, "string"],
  [GraphQLBoolean, "boolean"],
  [GraphQLInt, "int"],
  [GraphQLFloat, "float"],
]);

/** `isAsIs` as JavaScript source, for the variable `v`. */
export const AS_IS_CODE: Readonly<Record<AsIs, string>> = {
  string: 'typeof v === "string"',
  boolean: 'typeof v === "boolean"',
  int: 'typeof v === "number" && (v | 0) === v',
  float: 'typeof v === "number" && v - v === 0',
};

/** Whether a type returns this value unchanged. */
export function isAsIs(kind: AsIs | null, v: unknown): boolean {
  switch (kind) {
    case null:
      return false;
    case "int":
      return typeof v === "number" && (v | 0) === v;
    case "float":
      return typeof v === "number" && Number.isFinite(v);
    default:
      return typeof v === kind;
  }
}

type Coerce = (value: unknown) => unknown;

/** Converts a value of a scalar or an enum to its form in the response. */
export function leafCompleter(type: GraphQLLeafType): Complete {
  const known = completers.get(type);
  if (known !== undefined) return known;
  const completer = createCompleter(type);
  completers.set(type, completer);
  return completer;
}

const completers = new WeakMap<GraphQLLeafType, Complete>();

function createCompleter(type: GraphQLLeafType): Complete {
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
