import type { RawQuery } from "../../kernel/exchange/exchange.ts";
import type { AnyStrategy } from "../../pagination/strategies/strategy-by-name.ts";
import type { Schema } from "./schema.ts";
import { standardJsonSchema } from "./standard-json-schema.ts";

type JSONSchema = Readonly<Record<string, unknown>>;

/**
 * Adapts a query to its schema. A parameter that was sent once becomes a list if the schema expects one, because a query cannot
 * express the difference. Pagination parameters are left to the route's strategy, unless the schema declares them itself. If
 * the schema's library cannot produce JSON Schema, the query stays as it was sent.
 */
export function queryReader(schema: Schema, strategy?: AnyStrategy): (query: RawQuery) => RawQuery {
  const declared = declaredParameters(standardJsonSchema(schema, "input"));
  if (declared === null) return (query) => query;
  const lists = [...declared]
    .filter(([, schemas]) => schemas.length > 0 && schemas.every(isList))
    .map(([name]) => name);
  const foreign = (strategy?.describe().parameters ?? []).map(({ name }) => name).filter((name) => !declared.has(name));

  return (query) => {
    const single = lists.filter((name) => typeof query[name] === "string");
    if (single.length === 0 && foreign.length === 0) return query;
    const read: Record<string, RawQuery[string]> = { ...query };
    for (const name of single) read[name] = [query[name] as string];
    for (const name of foreign) delete read[name];
    return read;
  };
}

function isList({ type }: JSONSchema): boolean {
  return type === "array";
}

/** The schemas of each parameter, in each of its alternatives; `null` if the schema declares nothing. */
function declaredParameters(root: JSONSchema): ReadonlyMap<string, readonly JSONSchema[]> | null {
  const found = new Map<string, readonly JSONSchema[]>();
  const shapes = shapesOf(root, root);
  if (shapes.every((shape) => Object.keys(shape).length === 0)) return null;
  // A boolean schema has no members either, so it is read like one that accepts anything.
  for (const { properties } of shapes)
    for (const [name, property] of Object.entries((properties ?? {}) as Record<string, JSONSchema>))
      found.set(name, [...(found.get(name) ?? []), ...shapesOf(property, root)]);
  return found;
}

/** The alternatives of a schema, with references resolved. `null` is left out, because it does not occur in a query. */
function shapesOf(schema: JSONSchema, root: JSONSchema, seen: readonly JSONSchema[] = []): readonly JSONSchema[] {
  if (seen.includes(schema) || schema["type"] === "null") return [];
  const target = targetOf(schema, root);
  const parts = ["allOf", "anyOf", "oneOf"].flatMap((keyword) => (schema[keyword] ?? []) as readonly JSONSchema[]);
  const inner = target === undefined ? parts : [target, ...parts];
  if (inner.length === 0) return [schema];
  const own = "properties" in schema ? [schema] : [];
  return [...own, ...inner.flatMap((part) => shapesOf(part, root, [...seen, schema]))];
}

/** The definition that a schema refers to. */
export function targetOf({ $ref }: JSONSchema, root: JSONSchema): JSONSchema | undefined {
  const found = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(String($ref));
  if (found === null) return undefined;
  const definitions = { ...(root["definitions"] as object), ...(root["$defs"] as object) } as Record<
    string,
    JSONSchema
  >;
  return definitions[found[1] as string];
}
