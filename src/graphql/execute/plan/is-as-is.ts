import { GraphQLBoolean, GraphQLFloat, GraphQLID, GraphQLInt, type GraphQLLeafType, GraphQLString } from "graphql";

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
  if (kind === null) return false;
  if (kind === "int") return typeof v === "number" && (v | 0) === v;
  return kind === "float" ? typeof v === "number" && Number.isFinite(v) : typeof v === kind;
}
