import type { Schema } from "../http/context/schema.ts";
import { type Side, standardJsonSchema } from "../http/routing/standard-json-schema.ts";
import { mapSchema } from "./map-schema.ts";
import type { JsonSchema } from "./open-api-document.ts";

export type { Side };

/** The JSON Schema of a Standard Schema, as the document says it. */
export function jsonSchema(schema: Schema, side: Side): JsonSchema {
  const made = standardJsonSchema(schema, side);
  return side === "output" ? (mapSchema(made, opened) as JsonSchema) : made;
}

/** zod closes the objects that it strips, on this side alone. An answer may gain properties: clients are to expect it. */
function opened(schema: JsonSchema): JsonSchema {
  if (schema["additionalProperties"] !== false) return schema;
  const { additionalProperties: _closed, ...open } = schema;
  return open;
}
