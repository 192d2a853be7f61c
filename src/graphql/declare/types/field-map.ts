import { listOf, type OptionRule } from "../../../core/resolve-options.ts";
import { declareProperty } from "../fields/declare-head.ts";
import { type FieldDef, isFieldDef, isPropertyField, type PropertyField } from "../fields/field-def.ts";
import type { OutOf, OutputType } from "../references/graph-type.ts";
import { ResolverError } from "../references/resolver-error.ts";
import { type AnyRef, isGraphType, type MemberNode } from "../references/type-node.ts";

/** The fields of an object: a type exposes the property of that name, and `field(...)` computes a value. */
export type FieldMap<Row> = {
  readonly [name: string]: FieldDef<Row, any, any, "field"> | PropertyField<Row> | OutputType;
};
/** Names the reason when a field does not match the object. */
export type CheckField<Row, K, F> =
  F extends FieldDef<any, any, any>
    ? unknown
    : K extends keyof Row
      ? Row[K] extends ResultOf<F>
        ? unknown
        : { readonly "the field type does not match the property": [Row[K], ResultOf<F>] }
      : { readonly "no such property on the parent": K };
export type CheckFields<Row, F> = unknown extends Row
  ? { readonly "annotate the constant with its parent type: const X: ObjectType<Row> = object(...)": never }
  : string extends keyof F
    ? unknown
    : { readonly [K in keyof F]: CheckField<Row, K, F[K]> };
/** The value of a field that exposes a property. */
export type ResultOf<F> = F extends PropertyField<never, infer R> ? R : OutOf<F>;

/** Checks the fields of an object or an interface. */
export function readFields(
  name: string,
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, MemberNode>> {
  const read: Record<string, MemberNode> = {};
  for (const [key, value] of Object.entries(fields)) {
    const place = `${name}.${key}`;
    if (isFieldDef(value)) {
      if (value.operation !== "field")
        throw new ResolverError(
          place,
          `is declared with ${value.operation}(). Declare the fields of an object with field()`,
        );
      read[key] = value["~field"];
    } else if (isPropertyField(value)) read[key] = declareProperty(place, value["~head"], key);
    else if (isGraphType(value)) read[key] = value as AnyRef;
    else
      throw new ResolverError(
        place,
        "is neither a type nor a field. If its type is declared later in the file, use field(() => Type)",
      );
  }
  return read;
}

/** The option `implements`. */
export const interfaceList: OptionRule<readonly AnyRef[]> = listOf<AnyRef>(
  "a list of interfaces made by t.interface()",
  (entry) => isGraphType(entry) && entry["~kind"] === "interface",
);
