import type { StandardSchemaV1 } from "@standard-schema/spec";
import { isPromise, type MaybePromise } from "../core/maybe-promise.ts";
import { type Rule, rule } from "../core/options.ts";

/** A schema of any library that follows Standard Schema: zod, valibot, arktype and others. */
export type Schema = StandardSchemaV1;
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

export const schema: Rule<Schema> = rule("a Standard Schema, such as one of zod, valibot or arktype", isSchema);

/** arktype's schemas are functions. */
export function isSchema(value: unknown): value is Schema {
  return (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
}
