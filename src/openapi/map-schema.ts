import type { JsonSchema } from "./open-api-document.ts";

/** A copy of a schema with `change` applied to it and, before, to every schema inside it. */
export function mapSchema(schema: unknown, change: (schema: JsonSchema) => JsonSchema): unknown {
  if (Array.isArray(schema)) return schema.map((entry) => mapSchema(entry, change));
  // `true` and `false` are schemas, too.
  if (typeof schema !== "object" || schema === null) return schema;
  const copy = Object.entries(schema).map(([keyword, value]) => {
    if (HOLDS_SCHEMAS.has(keyword)) return [keyword, mapSchema(value, change)];
    return NAMES_SCHEMAS.has(keyword) ? [keyword, mapValues(value, change)] : [keyword, value];
  });
  return change(Object.fromEntries(copy) as JsonSchema);
}

function mapValues(named: unknown, change: (schema: JsonSchema) => JsonSchema): unknown {
  if (typeof named !== "object" || named === null) return named;
  return Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, mapSchema(schema, change)]));
}

/** Keywords whose value is a schema or a list of schemas. Under any other one, `$ref` is somebody's data. */
const HOLDS_SCHEMAS: ReadonlySet<string> = new Set(
  `allOf anyOf oneOf not if then else items prefixItems contains unevaluatedItems
  additionalProperties propertyNames unevaluatedProperties contentSchema`.split(/\s+/),
);
/** Keywords whose value has schemas under names of its own. */
const NAMES_SCHEMAS: ReadonlySet<string> = new Set(
  "properties patternProperties dependentSchemas $defs definitions".split(" "),
);
