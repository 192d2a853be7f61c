import type { Resuming } from "./subscription-event.ts";

/** The parameters of a GraphQL request. */
export interface GraphQLParams {
  readonly query: string;
  readonly variables?: unknown;
  readonly extensions?: { readonly idempotencyKey: string } | Resuming | undefined;
}

/** Returns the body of a GraphQL request: JSON, or a form if a variable contains a file. */
export function graphqlBody({ query, variables, extensions }: GraphQLParams): GraphQLParams | FormData {
  const files: [path: string, file: Blob][] = [];
  const bare = withoutFiles(variables, "variables", files);
  if (files.length === 0) return { query, variables, extensions };
  // The order is part of the multipart request specification: the operation, the paths of the files, the files.
  const form = new FormData();
  form.append("operations", JSON.stringify({ query, variables: bare }));
  form.append("map", JSON.stringify(Object.fromEntries(files.map(([path], index) => [index, [path]]))));
  for (const [index, [, file]] of files.entries()) form.append(String(index), file);
  return form;
}

function withoutFiles(value: unknown, path: string, files: [string, Blob][]): unknown {
  if (value instanceof Blob) {
    files.push([path, value]);
    return null;
  }
  if (typeof value !== "object" || value === null) return value;
  const inside = (key: string | number, one: unknown): unknown => withoutFiles(one, `${path}.${key}`, files);
  if (Array.isArray(value)) return value.map((one, index) => inside(index, one));
  if ("toJSON" in value) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inside(key, one)]));
}
