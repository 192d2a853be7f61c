import { listOf, type Rule } from "../../core/resolve-options.ts";
import { declareProperty } from "../fields/field-declaration.ts";
import { type FieldDef, isFieldDef, isPropertyField, type PropertyField } from "../fields/field-def.ts";
import { ResolverError } from "../fields/resolver-error.ts";
import type { OutOf, OutputType } from "./graph-type.ts";
import { type AnyRef, isGraphType, type MemberNode } from "./type-node.ts";

/** The fields of an object: a type is the property of that name, `field(...)` computes. */
export type FieldMap<Row> = {
  readonly [name: string]: FieldDef<Row, any, any, "field"> | PropertyField<Row> | OutputType;
};
/** Says in a sentence why a field does not fit the object. */
export type CheckField<Row, K, F> =
  F extends FieldDef<any, any, any>
    ? unknown
    : K extends keyof Row
      ? Row[K] extends ResultOf<F>
        ? unknown
        : { readonly "field type does not fit the property": [Row[K], ResultOf<F>] }
      : { readonly "no such property on the parent": K };
export type CheckFields<Row, F> = unknown extends Row
  ? { readonly "annotate the constant with its parent type: const X: ObjectType<Row> = object(...)": never }
  : string extends keyof F
    ? unknown
    : { readonly [K in keyof F]: CheckField<Row, K, F[K]> };
/** What a field that is a property gives. */
export type ResultOf<F> = F extends PropertyField<never, infer R> ? R : OutOf<F>;

/** The fields of an object or interface, checked. */
export function readFields(
  name: string,
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, MemberNode>> {
  const read: Record<string, MemberNode> = {};
  for (const [key, value] of Object.entries(fields)) {
    const place = `${name}.${key}`;
    if (isFieldDef(value)) {
      if (value.operation !== "field")
        throw new ResolverError(place, `is declared with ${value.operation}(): in an object it is field()`);
      read[key] = value["~field"];
    } else if (isPropertyField(value)) read[key] = declareProperty(place, value["~head"], key);
    else if (isGraphType(value)) read[key] = value as AnyRef;
    else
      throw new ResolverError(
        place,
        "is neither a type nor a field; when its type is declared further down, use field(() => Type)",
      );
  }
  return read;
}

/** The option `implements`. */
export const interfaceList: Rule<readonly AnyRef[]> = listOf<AnyRef>(
  "a list of interfaces, made by t.interface()",
  (entry) => isGraphType(entry) && entry["~kind"] === "interface",
);
