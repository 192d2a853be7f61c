import type { StandardJSONSchemaV1 } from "@standard-schema/spec";
import type { Schema } from "../http/schema.ts";
import { mapSchema } from "./map-schema.ts";
import type { JsonSchema } from "./open-api-document.ts";

/** What comes in, or what goes out: a schema with defaults or transformations differs. */
export type Side = "input" | "output";

/**
 * The JSON Schema of a Standard Schema whose library has it (Standard JSON Schema), else the one that takes anything:
 * what cannot be said is left open rather than said wrongly.
 */
export function jsonSchema(schema: Schema, side: Side): JsonSchema {
  const { jsonSchema: converter } = schema["~standard"] as Partial<StandardJSONSchemaV1.Props>;
  if (converter === undefined) return {};
  try {
    const made = converter[side]({ target: "draft-2020-12", libraryOptions: LEAVE_OPEN });
    return side === "output" ? (mapSchema(made, opened) as JsonSchema) : made;
  } catch {
    return {};
  }
}

/** zod closes the objects that it strips, on this side alone. An answer may gain properties: clients are to expect it. */
function opened(schema: JsonSchema): JsonSchema {
  if (schema["additionalProperties"] !== false) return schema;
  const { additionalProperties: _closed, ...open } = schema;
  return open;
}

/** One date must not cost the whole schema: for each library, how to leave open only what it cannot say. */
const LEAVE_OPEN = {
  // zod
  unrepresentable: "any",
  // arktype
  fallback: ({ base }: { readonly base: object }): object => base,
  // valibot
  overrideSchema: ({ errors }: ValibotStep): object | undefined => (errors === undefined ? undefined : {}),
  overrideAction: ({ errors, valibotAction, jsonSchema: before }: ValibotStep): object | undefined =>
    errors === undefined ? undefined : valibotAction?.kind === "transformation" ? {} : before,
};

interface ValibotStep {
  readonly errors: readonly string[] | undefined;
  readonly valibotAction?: { readonly kind: string };
  readonly jsonSchema: object;
}
