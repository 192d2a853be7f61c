import type { StandardSchemaV1 } from "@standard-schema/spec";
import { andThen, isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import { type OptionRule, optionRule } from "../../core/resolve-options.ts";

/** A schema of any library that implements Standard Schema: zod, valibot, arktype and others. */
export type Schema = StandardSchemaV1;
/** A schema that throws an HTTP exception with this status for an invalid value, instead of reporting issues. */
export interface ThrowingSchema {
  readonly "~status": number;
}
export type SchemaInput<S> = S extends Schema ? StandardSchemaV1.InferInput<S> : never;
export type SchemaOutput<S, Fallback> = S extends Schema ? StandardSchemaV1.InferOutput<S> : Fallback;

/** Validates a value with a schema; `refuse` creates the error from its issues. */
export function validate(
  schema: Schema,
  value: unknown,
  refuse: (issues: readonly StandardSchemaV1.Issue[]) => Error,
): MaybePromise<unknown> {
  const open = (result: StandardSchemaV1.Result<unknown>): unknown => {
    if (result.issues !== undefined) throw refuse(result.issues);
    return result.value;
  };
  const result = schema["~standard"].validate(value);
  return andThen(result, open);
}

/** The status of the response to an invalid value. */
export function misfitStatus(schema: Schema): number {
  return (schema as Partial<ThrowingSchema>)["~status"] ?? 422;
}

/** The output of a schema for a missing body, for example with `.optional()`; `null` if the schema requires a body. */
export function valueOfNothing(schema: Schema): MaybePromise<{ readonly value: unknown } | null> {
  try {
    const result = schema["~standard"].validate(undefined);
    return isPromise(result) ? Promise.resolve(result).then(accepted, () => null) : accepted(result);
  } catch {
    // Parts of the schema may throw on `undefined`.
    return null;
  }
}

function accepted(result: StandardSchemaV1.Result<unknown>): { readonly value: unknown } | null {
  return result.issues === undefined ? { value: result.value } : null;
}

export const schemaRule: OptionRule<Schema> = optionRule(
  "a Standard Schema, such as one of zod, valibot or arktype",
  isSchema,
);

/** arktype's schemas are functions. */
export function isSchema(value: unknown): value is Schema {
  return (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
}
