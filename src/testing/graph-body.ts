import type { GraphVariables, TestRequest } from "./test-client.ts";

/**
 * Builds the request of an operation: JSON, or a multipart request if the variables contain files.
 *
 * @see https://github.com/jaydenseric/graphql-multipart-request-spec
 */
export function graphBody(query: string, variables: GraphVariables): Required<Pick<TestRequest, "headers" | "body">> {
  const places = new Map<Blob, string[]>();
  const bare = withoutFiles(variables, "variables", places);
  if (places.size === 0) return { headers: {}, body: { query, variables } };
  const form = new FormData();
  form.append("operations", JSON.stringify({ query, variables: bare }));
  form.append("map", JSON.stringify(Object.fromEntries([...places.values()].entries())));
  for (const [name, file] of [...places.keys()].entries()) form.append(String(name), file);
  // Any page can send a form. This header shows that the request is not cross-site (CSRF).
  return { headers: { "graphql-require-preflight": "1" }, body: form };
}

/** Replaces each file with null and adds its paths to `places`. A file used twice is sent once. */
function withoutFiles(value: unknown, path: string, places: Map<Blob, string[]>): unknown {
  if (value instanceof Blob) {
    places.set(value, [...(places.get(value) ?? []), path]);
    return null;
  }
  if (Array.isArray(value)) return value.map((entry, index) => withoutFiles(entry, `${path}.${index}`, places));
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [name, withoutFiles(entry, `${path}.${name}`, places)]),
  );
}

/** An object with `toJSON`, such as a Date, serialises itself. */
function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !("toJSON" in value);
}
