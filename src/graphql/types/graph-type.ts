import type { ArgNode, TypeNode } from "./type-node.ts";

declare const OUT: unique symbol;
declare const IN: unique symbol;

/** What sorts of types there are. */
export type TypeKind =
  | "scalar"
  | "enum"
  | "input"
  | "object"
  | "interface"
  | "union"
  | "list"
  | "nullable"
  | "optional"
  | "ref";

/** A type of the schema, and what it is in TypeScript: `Out` as a result, `In` as an argument. */
export interface GraphType<out Out, out In = Out, out K extends TypeKind = TypeKind> {
  readonly "~kind": K;
  /** @internal */
  readonly "~node": TypeNode;
  readonly [OUT]?: Out;
  readonly [IN]?: In;
}

/** A class whose instances are the values of a type. */
export type Class<T = unknown> = abstract new (...args: never) => T;

/** A type that a field may have. */
export type OutputType = GraphType<any, any, Exclude<TypeKind, "input" | "optional">>;
/** A type that an argument may have. */
export type ArgType = GraphType<any, any, Exclude<TypeKind, "object" | "interface" | "union">>;
/** A type that a list or a nullable may hold. */
export type InnerType = GraphType<any, any, Exclude<TypeKind, "optional">>;

/** Where a field's type is wanted: itself, a class, or a thunk for what is declared further down. */
export type OutputRef = OutputType | Class | (() => OutputType | Class);
/** Where an argument's type is wanted: itself, or a thunk. */
export type ArgRef = ArgType | (() => ArgType);
/** Where any type is wanted. */
export type InnerRef = InnerType | Class | (() => InnerType | Class);

/** What a resolver of this type returns. */
export type OutOf<T> = T extends { readonly [OUT]?: infer O }
  ? O
  : T extends Class<infer I>
    ? I
    : T extends () => infer R
      ? OutOf<R>
      : never;

/**
 * What an argument of this type is in the resolver.
 *
 * @example
 * ```ts
 * import { type InOf, t } from "portico/graphql";
 *
 * const NewBook = t.input("NewBook", { title: t.string, pages: t.nullable(t.int) });
 * type NewBook = InOf<typeof NewBook>; // { title: string; pages: number | null }
 *
 * export const describe = (book: NewBook): string => `${book.title}, ${book.pages ?? "?"} pages`;
 * ```
 */
export type InOf<T> = T extends { readonly [IN]?: infer I } ? I : T extends () => infer R ? InOf<R> : never;

/** A declared argument: a type with a default, a name or a description. Made by `t.arg` and by calling a scalar or an enum. */
export interface Arg<out In> {
  readonly "~kind": "arg";
  /** @internal */
  readonly "~arg": ArgNode;
  readonly [IN]?: In;
}
