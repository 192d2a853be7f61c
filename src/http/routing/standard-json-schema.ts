import type { StandardJSONSchemaV1 } from "@standard-schema/spec";
import type { Schema } from "../context/schema.ts";

/** What comes in, or what goes out: a schema with defaults or transformations differs. */
export type Side = "input" | "output";

/**
 * The JSON Schema, of draft 2020-12, of a Standard Schema whose library has it (Standard JSON Schema), else the one that
 * takes anything: what cannot be said is left open rather than said wrongly.
 */
export function standardJsonSchema(schema: Schema, side: Side): Readonly<Record<string, unknown>> {
  const { jsonSchema: converter } = schema["~standard"] as Partial<StandardJSONSchemaV1.Props>;
  if (converter === undefined) return {};
  try {
    return converter[side]({ target: "draft-2020-12", libraryOptions: LEAVE_OPEN });
  } catch {
    return {};
  }
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
