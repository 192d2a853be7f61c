import type { ArgNode, TypeNode } from "./type-node.ts";

declare const OUT: unique symbol;
declare const IN: unique symbol;

/** The kinds of types. */
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
  | "validated"
  | "ref";

/** A GraphQL type with its TypeScript types: `Out` for results, `In` for arguments. */
export interface GraphType<out Out, out In = Out, out K extends TypeKind = TypeKind> {
  readonly "~kind": K;
  /** @internal */
  readonly "~node": TypeNode;
  // As the result of a function: without exactOptionalPropertyTypes, inference would remove `undefined` from the type itself.
  readonly [OUT]?: () => Out;
  readonly [IN]?: () => In;
}

/** A class whose instances are the values of a type. */
export type Class<T = unknown> = abstract new (...args: never) => T;

/** A type that a field may have. */
export type OutputType = GraphType<any, any, Exclude<TypeKind, "input" | "optional" | "validated">>;
/** A type that an argument may have. */
export type ArgType = GraphType<any, any, Exclude<TypeKind, "object" | "interface" | "union">>;
/** A type that a list or a nullable may hold. */
export type InnerType = GraphType<any, any, Exclude<TypeKind, "optional">>;

/** A reference to the type of a field: the type, a class, or a thunk for a type that is declared later. */
export type OutputRef = OutputType | Class | (() => OutputType | Class);
/** A reference to the type of an argument: the type or a thunk. */
export type ArgRef = ArgType | (() => ArgType);
/** A reference to any type that a list or a nullable may hold. */
export type InnerRef = InnerType | Class | (() => InnerType | Class);

/** The TypeScript type that a resolver returns for this GraphQL type. */
export type OutOf<T> = T extends { readonly [OUT]?: () => infer O }
  ? O
  : T extends Class<infer I>
    ? I
    : T extends () => infer R
      ? OutOf<R>
      : never;

/**
 * The TypeScript type that a resolver receives for an argument of this GraphQL type.
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
export type InOf<T> = T extends { readonly [IN]?: () => infer I } ? I : T extends () => infer R ? InOf<R> : never;

/** An argument with a default, a name or a description, made by `t.arg` or by calling a scalar or an enum. */
export interface Arg<out In> {
  readonly "~kind": "arg";
  /** @internal */
  readonly "~arg": ArgNode;
  readonly [IN]?: () => In;
}
