import { anything, resolveOptions, text } from "../../../core/resolve-options.ts";
import type { Arg, ArgRef, InOf } from "./graph-type.ts";
import { ResolverError } from "./resolver-error.ts";
import { type AnyRef, type AppliedDirective, type ArgNode, isGraphType } from "./type-node.ts";
import { directiveList } from "./type-options.ts";
import type { DefaultOf } from "./validated-type.ts";

/** The options of an argument or an input field. */
export interface ArgOptions<Default> {
  /** The value that the argument has if the query omits it. A schema of the argument validates it at startup. */
  readonly default?: Default;
  /** The name of an argument in the schema. @default the key it is declared under */
  readonly name?: string;
  readonly description?: string;
  readonly deprecationReason?: string;
  /** Directives made by `t.directive`, with their arguments. @default none */
  readonly directives?: readonly AppliedDirective[];
}

/**
 * Declares an argument, or a field of an input object, with a default, a description, a deprecation or another name.
 *
 * @example
 * ```ts
 * import { field, t } from "portico/graphql";
 *
 * const limit = t.arg(t.int, { default: 10, description: "The maximum number of squares." });
 *
 * export const squares = field(t.list(t.int), { params: { limit } })(({ limit }) =>
 *   Array.from({ length: limit }, (_, n) => n * n),
 * );
 * ```
 */
export function arg<T extends ArgRef>(type: T, options: ArgOptions<DefaultOf<NoInfer<T>>> = {}): Arg<InOf<T>> {
  const read = resolveOptions("t.arg", options, rules);
  if (!isTypeRef(type)) throw new ResolverError("t.arg", "the first argument must be a type, such as t.int");
  return { "~kind": "arg", "~arg": { ...read, type } };
}

/** An argument that has a type and no options. */
export function plainArg(type: AnyRef): ArgNode {
  return { type, default: undefined, name: undefined, description: undefined, deprecationReason: undefined };
}

export function isArg(value: unknown): value is Arg<unknown> {
  return typeof value === "object" && value !== null && "~arg" in value;
}

/** Whether this could be a type. The type that a thunk returns is checked when the schema is built. */
export function isTypeRef(value: unknown): value is AnyRef {
  return typeof value === "function" || isGraphType(value);
}

const rules = {
  default: anything,
  name: text,
  description: text,
  deprecationReason: text,
  directives: directiveList,
} as const;
