import { isTypeRef } from "../references/arg.ts";
import type { ArgRef, GraphType, InnerRef, InOf, OutOf } from "../references/graph-type.ts";
import { ResolverError } from "../references/resolver-error.ts";
import { type AnyRef, isGraphType, type Wrapper } from "../references/type-node.ts";
import { checkName } from "../references/type-options.ts";

/** A list type. */
export interface ListType<Out, In> extends GraphType<Out, In, "list"> {}
/** A type whose values may be null. All other types are non-null. */
export interface NullableType<Out, In> extends GraphType<Out, In, "nullable"> {}
/** An argument or input field that may be omitted. It is then `undefined`. */
export interface OptionalType<In> extends GraphType<never, In, "optional"> {}
/** A type that is referred to by its name. */
export interface RefType<T> extends GraphType<T, T, "ref"> {}

/** Declares a list, `[T!]!`. Lists can be nested. */
export function list<T extends InnerRef>(of: T): ListType<readonly OutOf<T>[], InOf<T>[]> {
  return { "~kind": "list", "~node": wrapper("list", of) };
}

/**
 * Declares a nullable type, `T` instead of `T!`. A result may be null or undefined. An argument is null if the query
 * sends null or omits it. To tell these two apart, use `t.optional(t.nullable(...))`.
 */
export function nullable<T extends InnerRef>(of: T): NullableType<OutOf<T> | null | undefined, InOf<T> | null> {
  return { "~kind": "nullable", "~node": wrapper("nullable", of) };
}

/**
 * Declares an argument or input field that may be omitted, for partial updates. If it is omitted, it is `undefined`.
 * Null is rejected unless the inner type is nullable.
 *
 * @example
 * ```ts
 * import { t } from "portico/graphql";
 *
 * // omitted: keep the note; null: remove it; a string: replace it
 * export const BookChange = t.input("BookChange", { note: t.optional(t.nullable(t.string)) });
 * ```
 */
export function optional<T extends ArgRef>(of: T): OptionalType<InOf<T> | undefined> {
  return { "~kind": "optional", "~node": wrapper("optional", of) };
}

/**
 * Refers to a type by its name, for modules that must not import each other. The type itself must be reachable from the
 * schema in another way, or be listed in its `types`.
 */
export function ref<Out>(name: string): RefType<Out> {
  checkName("t.ref", name);
  return { "~kind": "ref", "~node": { kind: "ref", name } };
}

function wrapper<K extends "list" | "nullable" | "optional">(kind: K, of: AnyRef): Wrapper<K> {
  if (!isTypeRef(of))
    throw new ResolverError(
      `t.${kind}`,
      "needs a type. If the type is declared later in the file or in a module that imports this one, pass a thunk: () => Type",
    );
  if (isGraphType(of) && of["~kind"] === "optional")
    throw new ResolverError(
      `t.${kind}`,
      "t.optional() must be the outermost wrapper: only an argument or an input field can be omitted",
    );
  return { kind, of };
}
