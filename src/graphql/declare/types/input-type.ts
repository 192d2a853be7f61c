import { resolveOptions } from "../../../core/resolve-options.ts";
import { isArg, isTypeRef, plainArg } from "../references/arg.ts";
import type { Arg, ArgRef, GraphType, InOf } from "../references/graph-type.ts";
import { ResolverError } from "../references/resolver-error.ts";
import { type ArgNode, isGraphType } from "../references/type-node.ts";
import { checkName, type TypeOptions, typeRules } from "../references/type-options.ts";
import type { OptionalType } from "./list-type.ts";

/** An input object type. */
export interface InputType<In> extends GraphType<never, In, "input"> {}

/** The fields of an input object. */
export type InputFields = { readonly [name: string]: ArgRef | Arg<any> };
export type OptionalKeys<F> = { [K in keyof F]: F[K] extends OptionalType<any> ? K : never }[keyof F];
export type Simplify<T> = { [K in keyof T]: T[K] } & {};
/**
 * An input object as the resolver receives it: a `nullable` field is always present, an `optional` one may be absent.
 */
export type InputOf<F> = Simplify<
  { [K in Exclude<keyof F, OptionalKeys<F>>]: InOf<F[K]> } & { [K in OptionalKeys<F>]?: Exclude<InOf<F[K]>, undefined> }
>;
/** Exactly one of the keys. */
export type OneOf<F> = {
  [K in keyof F]: Simplify<{ -readonly [N in K]: InOf<F[N]> } & { [N in Exclude<keyof F, K>]?: never }>;
}[keyof F];

/**
 * Declares an input object.
 *
 * @example
 * ```ts
 * import { mutation, t } from "portico/graphql";
 *
 * const NewBook = t.input("NewBook", { title: t.string, tags: t.arg(t.list(t.string), { default: [] }) });
 *
 * export const addBook = mutation(t.string, { params: { book: NewBook } })(({ book }) => book.title);
 * ```
 */
export function input<const F extends InputFields>(
  name: string,
  fields: F,
  options: TypeOptions = {},
): InputType<InputOf<F>> {
  return declare("t.input", name, fields, options);
}

/**
 * Declares an input object of which the client must set exactly one field.
 *
 * @example
 * ```ts
 * import { field, t } from "portico/graphql";
 *
 * const BookKey = t.oneOf("BookKey", { id: t.id, isbn: t.string });
 *
 * export const title = field(t.string, { params: { by: BookKey } })(({ by }) => (by.id === undefined ? by.isbn :
 * by.id));
 * ```
 */
export function oneOf<const F extends InputFields>(
  name: string,
  fields: F,
  options: TypeOptions = {},
): InputType<OneOf<F>> {
  return declare("t.oneOf", name, fields, options);
}

function declare(
  factory: "t.input" | "t.oneOf",
  name: string,
  fields: InputFields,
  options: TypeOptions,
): InputType<never> {
  checkName(factory, name);
  const place = `${factory} ${name}`;
  const { description, directives } = resolveOptions(place, options, typeRules);
  const isOneOf = factory === "t.oneOf";
  const entries = Object.entries(fields).map(
    ([key, value]) => [key, inputField(`${place}.${key}`, value, isOneOf)] as const,
  );
  return { "~kind": "input", "~node": { kind: "input", name, description, directives, isOneOf, fields: entries } };
}

/** Reads a field of an input object, or an argument of a directive. */
export function inputField(place: string, value: unknown, isOneOf: boolean): ArgNode {
  checkName(place, place.slice(place.lastIndexOf(".") + 1));
  const field = isArg(value) ? value["~arg"] : isTypeRef(value) ? plainArg(value) : null;
  if (field === null)
    throw new ResolverError(place, "has no type. If the type is declared later in the file, pass a thunk: () => Type");
  if (field.name !== undefined)
    throw new ResolverError(place, "must not set name: an input field is named after its key");
  const kind = isGraphType(field.type) ? field.type["~kind"] : null;
  if (isOneOf && (field.default !== undefined || kind === "nullable" || kind === "optional"))
    throw new ResolverError(
      place,
      "a field of a oneOf input must not have a default and must not be nullable or optional",
    );
  return field;
}
