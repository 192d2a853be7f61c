export type OperationKind = "query" | "mutation" | "subscription";

/** An operation that asks for one place. */
export interface Operation {
  readonly kind: OperationKind;
  readonly query: string;
  /** Files are `FILE`. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The names of the fields from the root to the place. */
  readonly path: readonly string[];
  /** The type of the objects at the path, if the place is the type. */
  readonly object?: string;
}

/** Stands for a file in the variables of an operation. */
export const FILE: unique symbol = Symbol("file");

/** The query that asks an endpoint for nothing, to see whether the endpoint itself lets a caller in. */
export const EMPTY_QUERY: Operation = { kind: "query", query: "{ __typename }", variables: {}, path: ["__typename"] };

/** The variables with null for each file, and the paths of the files. */
export function withoutFiles({ variables }: Operation): { readonly plain: unknown; readonly files: readonly string[] } {
  const files: string[] = [];
  const strip = (value: unknown, path: string): unknown => {
    if (value === FILE) {
      files.push(path);
      return null;
    }
    if (Array.isArray(value)) return value.map((entry, index) => strip(entry, `${path}.${index}`));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, strip(entry, `${path}.${key}`)]));
  };
  return { plain: strip(variables, "variables"), files };
}
