import { ResolverError } from "../fields/resolver-error.ts";
import { isTypeRef } from "./arg.ts";
import type { ArgRef, GraphType, InnerRef, InOf, OutOf } from "./graph-type.ts";
import { type AnyRef, isGraphType, type Wrapper, type WrapperNode } from "./type-node.ts";
import { checkName } from "./type-options.ts";

/** A list of another type. */
export interface ListType<Out, In> extends GraphType<Out, In, "list"> {}
/** A type or null. Everything else is never null. */
export interface NullableType<Out, In> extends GraphType<Out, In, "nullable"> {}
/** An argument or input field that may be left out, and then reads as `undefined`. */
export interface OptionalType<In> extends GraphType<never, In, "optional"> {}
/** A type that stands in another module, by its name. */
export interface RefType<T> extends GraphType<T, T, "ref"> {}

/** `[T!]!`. Lists of lists are lists of lists. */
export function list<T extends InnerRef>(of: T): ListType<readonly OutOf<T>[], InOf<T>[]> {
  return { "~kind": "list", "~node": wrapper("list", of) };
}

/**
 * `T` instead of `T!`. A result may be null or undefined; an argument is a value or null, also when the query leaves it
 * out. To tell those two apart, use `t.optional(t.nullable(...))`.
 */
export function nullable<T extends InnerRef>(of: T): NullableType<OutOf<T> | null | undefined, InOf<T> | null> {
  return { "~kind": "nullable", "~node": wrapper("nullable", of) };
}

/**
 * An argument or input field that may be left out, for changes in parts: left out it is `undefined`. Null is refused
 * unless it holds a nullable type.
 *
 * @example
 * ```ts
 * import { t } from "portico/graphql";
 *
 * // left out: keep the note; null: take it away; a text: replace it
 * export const BookChange = t.input("BookChange", { note: t.optional(t.nullable(t.string)) });
 * ```
 */
export function optional<T extends ArgRef>(of: T): OptionalType<InOf<T> | undefined> {
  return { "~kind": "optional", "~node": wrapper("optional", of) };
}

/**
 * A type by its name, for modules that must not import each other. The type itself must be reachable from the schema by
 * another way, or be listed in its `types`.
 */
export function ref<Out>(name: string): RefType<Out> {
  checkName("t.ref", name);
  return { "~kind": "ref", "~node": { kind: "ref", name } };
}

function wrapper<K extends WrapperNode["kind"]>(kind: K, of: AnyRef): Wrapper<K> {
  if (!isTypeRef(of))
    throw new ResolverError(
      `t.${kind}`,
      "given no type; when the type is declared further down or in a module that imports this one, give a thunk: () => Type",
    );
  if (isGraphType(of) && of["~kind"] === "optional")
    throw new ResolverError(
      `t.${kind}`,
      "t.optional() stands outermost: only an argument or an input field can be left out",
    );
  return { kind, of };
}
