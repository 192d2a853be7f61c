import type { JSONSchema } from "./open-api-document.ts";

/** Returns a copy of a schema with `change` applied to every inner schema and then to the schema itself. */
export function mapSchema(schema: unknown, change: (schema: JSONSchema) => JSONSchema): unknown {
  if (Array.isArray(schema)) return schema.map((entry) => mapSchema(entry, change));
  // `true` and `false` are also schemas.
  if (typeof schema !== "object" || schema === null) return schema;
  const copy = Object.entries(schema).map(([keyword, value]) => {
    if (HOLDS_SCHEMAS.has(keyword)) return [keyword, mapSchema(value, change)];
    return NAMES_SCHEMAS.has(keyword) ? [keyword, mapValues(value, change)] : [keyword, value];
  });
  return change(Object.fromEntries(copy) as JSONSchema);
}

function mapValues(named: unknown, change: (schema: JSONSchema) => JSONSchema): unknown {
  if (typeof named !== "object" || named === null) return named;
  return Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, mapSchema(schema, change)]));
}

/** Keywords whose value is a schema or a list of schemas. Under any other keyword, `$ref` is plain data. */
const HOLDS_SCHEMAS: ReadonlySet<string> = new Set(
  `allOf anyOf oneOf not if then else items prefixItems contains unevaluatedItems
  additionalProperties propertyNames unevaluatedProperties contentSchema`.split(/\s+/),
);
/** Keywords whose value maps names to schemas. */
const NAMES_SCHEMAS: ReadonlySet<string> = new Set(
  "properties patternProperties dependentSchemas $defs definitions".split(" "),
);
