import type { StandardSchemaV1 } from "@standard-schema/spec";
import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import { type Rule, rule } from "../../core/resolve-options.ts";

/** A schema of any library that follows Standard Schema: zod, valibot, arktype and others. */
export type Schema = StandardSchemaV1;
/** A schema that throws an HTTP exception of this status for a value that does not fit, instead of reporting issues. */
export interface ThrowingSchema {
  readonly "~status": number;
}
export type SchemaInput<S> = S extends Schema ? StandardSchemaV1.InferInput<S> : never;
export type SchemaOutput<S, Fallback> = S extends Schema ? StandardSchemaV1.InferOutput<S> : Fallback;

/** Puts a value through a schema; `refuse` makes the error of its issues. */
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
  return isPromise(result) ? Promise.resolve(result).then(open) : open(result);
}

/** One step on the way to a fault. */
export function segmentKey(segment: PropertyKey | StandardSchemaV1.PathSegment): string | number {
  const key = typeof segment === "object" ? segment.key : segment;
  return typeof key === "number" ? key : String(key);
}

/** The status of a response to a value that does not fit. */
export function misfitStatus(schema: Schema): number {
  return (schema as Partial<ThrowingSchema>)["~status"] ?? 422;
}

/** What a schema makes of a body that is not there, such as one of `.optional()`; `null` when it asks for one. */
export function valueOfNothing(schema: Schema): MaybePromise<{ readonly value: unknown } | null> {
  try {
    const result = schema["~standard"].validate(undefined);
    return isPromise(result) ? Promise.resolve(result).then(accepted, () => null) : accepted(result);
  } catch {
    // What it is made of may not expect nothing.
    return null;
  }
}

function accepted(result: StandardSchemaV1.Result<unknown>): { readonly value: unknown } | null {
  return result.issues === undefined ? { value: result.value } : null;
}

export const schema: Rule<Schema> = rule("a Standard Schema, such as one of zod, valibot or arktype", isSchema);

/** arktype's schemas are functions. */
export function isSchema(value: unknown): value is Schema {
  return (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
}
