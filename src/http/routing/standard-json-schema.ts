import type { StandardJSONSchemaV1 } from "@standard-schema/spec";
import type { Schema } from "./schema.ts";

/** The input or the output of a schema, which differ with defaults or transformations. */
export type Side = "input" | "output";

/**
 * The JSON Schema (draft 2020-12) of a Standard Schema whose library supports Standard JSON Schema. Otherwise, a schema that
 * accepts anything, because a missing description is better than a wrong one.
 */
export function standardJsonSchema(
  schema: Schema,
  side: Side,
  libraryOptions: Readonly<Record<string, unknown>> = LEAVE_OPEN,
): Readonly<Record<string, unknown>> {
  const { jsonSchema: converter } = schema["~standard"] as Partial<StandardJSONSchemaV1.Props>;
  if (converter === undefined) return {};
  try {
    return converter[side]({ target: "draft-2020-12", libraryOptions });
  } catch {
    return {};
  }
}

/** One date must not cost the whole schema, so each library is configured to leave open only the parts it cannot represent. */
export const LEAVE_OPEN = {
  // zod
  unrepresentable: "any",
  // arktype
  fallback: ({ base }: { readonly base: object }): object => base,
  // valibot
  overrideSchema: ({ errors }: Pick<ValibotStep, "errors">): object | undefined =>
    errors === undefined ? undefined : {},
  overrideAction: ({ errors, valibotAction, jsonSchema: before }: ValibotStep): object | undefined =>
    errors === undefined ? undefined : valibotAction.kind === "transformation" ? {} : before,
};

/** An action of a pipe. Steps for schemas have no action. */
interface ValibotStep {
  readonly errors: readonly string[] | undefined;
  readonly valibotAction: { readonly kind: string };
  readonly jsonSchema: object;
}
