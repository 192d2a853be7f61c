import { callable, resolveOptions } from "../../../core/resolve-options.ts";
import type { Class, GraphType, OutOf } from "../references/graph-type.ts";
import { ResolverError } from "../references/resolver-error.ts";
import { checkName, type TypeOptions, typeRules } from "../references/type-options.ts";
import type { ObjectType } from "./object-type.ts";

/** A union type. */
export interface UnionType<Out> extends GraphType<Out, never, "union"> {}

/** A member of a union: an object, a class with decorated members, or a thunk that returns one of them. */
export type UnionMember = ObjectType<any> | Class | (() => ObjectType<any> | Class);

/** The options of a union type. */
export interface UnionOptions<T> extends TypeOptions {
  /** Returns the name of a value's object type. Not needed if every member is a class or has a `model`. */
  resolveType?(value: T): string;
}

/**
 * Declares a union of object types.
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
    throw new ResolverError(`${place} ${name}`, "must have at least one type");
  return {
    "~kind": "union",
    "~node": {
      kind: "union",
      name,
      description: read.description,
      directives: read.directives,
      types,
      resolveType: read.resolveType ?? null,
    },
  };
}

const rules = { ...typeRules, resolveType: callable } as const;
