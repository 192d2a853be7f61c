import type { Schema, SchemaInput } from "../../../http/routing/schema.ts";
import type { GraphType, InOf } from "./graph-type.ts";
import type { AnyRef } from "./type-node.ts";

declare const RAW: unique symbol;

/**
 * The type of an argument or an input field whose values a Standard Schema validates. Clients send a `Raw`, and the resolver
 * receives the output of the schema. A field cannot have this type.
 */
export interface ValidatedType<Raw, In> extends GraphType<never, In, "validated"> {
  readonly [RAW]?: () => Raw;
}

/** A schema must accept every value of its scalar. Of `t.json`, whose values are unknown, a schema may accept some. */
export type Accepting<S, T> = unknown extends T
  ? unknown
  : [T] extends [SchemaInput<S>]
    ? unknown
    : "the input type of the schema does not accept all values of the scalar";

/** The type of an argument's default: its schema, if it has one, transforms the default as well. */
export type DefaultOf<T> = T extends ValidatedType<infer Raw, any> ? Raw : InOf<T>;

export function validated<Raw>(of: AnyRef, schema: Schema): ValidatedType<Raw, unknown> {
  return { "~kind": "validated", "~node": { kind: "validated", of, schema } };
}
