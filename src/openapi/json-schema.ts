import type { Schema } from "../http/routing/schema.ts";
import { type Side, standardJsonSchema } from "../http/routing/standard-json-schema.ts";
import { mapSchema } from "./map-schema.ts";
import type { JSONSchema } from "./open-api-document.ts";

export type { Side };

/** Returns the JSON Schema of a Standard Schema for the document. */
export function jsonSchema(schema: Schema, side: Side): JSONSchema {
  const made = standardJsonSchema(schema, side);
  return side === "output" ? (mapSchema(made, opened) as JSONSchema) : made;
}

/**
 * Removes `additionalProperties: false`, which zod adds on the output side only. A response may gain properties later,
 * and clients must accept them.
 */
function opened(schema: JSONSchema): JSONSchema {
  if (schema["additionalProperties"] !== false) return schema;
  const { additionalProperties: _closed, ...open } = schema;
  return open;
}
