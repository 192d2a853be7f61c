import { classMembers } from "../declare/fields/class-members.ts";
import { declareProperty } from "../declare/fields/declare-head.ts";
import type { FieldDeclaration, Operation } from "../declare/fields/field-declaration.ts";
import { type FieldDef, isFieldDef, isPropertyField } from "../declare/fields/field-def.ts";
import { isClass } from "../declare/fields/node-of.ts";
import type { Class } from "../declare/references/graph-type.ts";
import { ResolverError } from "../declare/references/resolver-error.ts";
import type { PlacedField } from "./field-config.ts";

/** The source of a root type's fields: an object of fields, an instance or a class with fields, or a list of these. */
export type RootSource = object | readonly object[];

/** Names the reason why a value is not a root of this kind. */
export type CheckRoot<R, Op extends Operation> = R extends readonly unknown[]
  ? { readonly [I in keyof R]: CheckRoot<R[I], Op> }
  : R extends abstract new (
        ...args: never
      ) => unknown
    ? R extends new () => object
      ? unknown
      : { readonly "the constructor of a root class must not require arguments": R }
    : { readonly [K in keyof R]: CheckRootField<R[K], Op> };
export type CheckRootField<F, Op extends Operation> = F extends FieldDef<unknown, any, any, Op> | EventField
  ? unknown
  : F extends (...args: never) => unknown
    ? // Whether a method is decorated is only known when the schema is built.
      F extends { readonly "~kind": unknown }
      ? { readonly "give the field its resolver": Op }
      : unknown
    : { readonly "must be declared with": Op; readonly "and must not need a parent": F };

/** A subscription to a topic whose events are its values. */
interface EventField {
  readonly "~event": true;
}

/** The fields of a root, in their order. Throws `ResolverError` with the coordinate of a value that is not a field. */
export function rootFields(name: string, operation: Operation, source: unknown): readonly PlacedField[] {
  const fields = (Array.isArray(source) ? source : [source]).flatMap((part) => partFields(name, part));
  const seen = new Set<string>();
  for (const { key, field } of fields) {
    const place = `${name}.${key}`;
    if (field.operation !== operation)
      throw new ResolverError(
        place,
        `is declared with ${field.operation}(). Declare the fields of ${name} with ${operation}()`,
      );
    if (seen.has(field.options.name ?? key)) throw new ResolverError(place, "is declared twice");
    seen.add(field.options.name ?? key);
  }
  if (fields.length === 0) throw new ResolverError(name, "must have at least one field");
  return fields;
}

function partFields(name: string, part: unknown): readonly PlacedField[] {
  if (isClass(part)) return instanceFields(construct(name, part));
  if (typeof part !== "object" || part === null)
    throw new ResolverError(
      name,
      `must be an object of fields, an instance or a class, received ${part === null ? "null" : typeof part}`,
    );
  if (!isPlain(part)) return instanceFields(part);
  return Object.entries(part).map(([key, value]) => {
    if (isFieldDef(value)) return { key, field: value["~field"], receiver: null };
    if (isPropertyField(value) && value["~head"].options.from !== undefined)
      return { key, field: declareProperty(`${name}.${key}`, value["~head"], null), receiver: null };
    throw new ResolverError(`${name}.${key}`, "is not a field. Declare it with field(type)(resolver)");
  });
}

/** The decorated members of an instance, and its properties that are fields. */
function instanceFields(receiver: object): readonly PlacedField[] {
  const decorated = [...classMembers(receiver.constructor as Class).values()].map(({ key, field }) => ({
    key,
    field,
    receiver,
  }));
  const own = Object.entries(receiver).flatMap(
    ([key, value]): { key: string; field: FieldDeclaration; receiver: object }[] =>
      isFieldDef(value) ? [{ key, field: value["~field"], receiver }] : [],
  );
  return [...decorated, ...own];
}

function construct(name: string, root: Class): object {
  if (root.length > 0)
    throw new ResolverError(
      name,
      `the constructor of the class ${root.name} requires arguments: pass an instance instead`,
    );
  return new (root as unknown as new () => object)();
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
