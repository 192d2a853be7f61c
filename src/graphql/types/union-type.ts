import { callable, resolveOptions } from "../../core/resolve-options.ts";
import { ResolverError } from "../fields/resolver-error.ts";
import type { Class, GraphType, OutOf } from "./graph-type.ts";
import type { ObjectType } from "./object-type.ts";
import { checkName, type TypeOptions, typeRules } from "./type-options.ts";

/** A union type. */
export interface UnionType<Out> extends GraphType<Out, never, "union"> {}

/** What may stand in a union: objects, classes with decorated members, and thunks of either. */
export type UnionMember = ObjectType<any> | Class | (() => ObjectType<any> | Class);

/** What a union may say about itself. */
export interface UnionOptions<T> extends TypeOptions {
  /** The name of the type that a value is of. Not needed where every member is a class or has a `model`. */
  resolveType?(value: T): string;
}

/**
 * A union of object types.
 *
 * @example
 * ```ts
 * import { object, type ObjectType, t } from "portico/graphql";
 *
 * const Book: ObjectType<{ title: string }> = object("Book", { title: t.string });
 * const Author: ObjectType<{ name: string }> = object("Author", { name: t.string });
 *
 * export const Hit = t.union("Hit", [Book, Author], { resolveType: (hit) => ("title" in hit ? "Book" : "Author") });
 * ```
 */
export function union<const T extends readonly UnionMember[]>(
  name: string,
  types: T,
  options: UnionOptions<OutOf<NoInfer<T>[number]>> = {},
): UnionType<OutOf<T[number]>> {
  const place = "t.union";
  checkName(place, name);
  const read = resolveOptions(`${place} ${name}`, options, rules);
  if (!Array.isArray(types) || types.length === 0)
    throw new ResolverError(`${place} ${name}`, "a union has at least one type");
  return {
    "~kind": "union",
    "~node": { kind: "union", name, description: read.description, types, resolveType: read.resolveType ?? null },
  };
}

const rules = { ...typeRules, resolveType: callable } as const;
