import type { GraphVariables, TestRequest } from "./test-client.ts";

/**
 * An operation as it is sent: as JSON, or, when its variables hold files, as a multipart request.
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
  // A form can be sent by any page: this says that no foreign one did.
  return { headers: { "graphql-require-preflight": "1" }, body: form };
}

/** The value with null in the place of each file; `places` then has the paths of each. A file in two places is sent once. */
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

/** What has a `toJSON`, such as a Date, says itself how it is sent. */
function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !("toJSON" in value);
}
