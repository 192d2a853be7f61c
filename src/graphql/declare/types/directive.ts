import { DirectiveLocation } from "graphql";
import { flag, listOf, type OptionRule, objectRule, resolveOptions, text } from "../../../core/resolve-options.ts";
import type { Arg, InOf } from "../references/graph-type.ts";
import { ResolverError } from "../references/resolver-error.ts";
import type { AppliedDirective, DirectiveNode } from "../references/type-node.ts";
import { checkName } from "../references/type-options.ts";
import { type InputFields, inputField, type Simplify } from "./input-type.ts";
import type { NullableType, OptionalType } from "./list-type.ts";

/** A directive. Call it with its arguments to apply it, in the option `directives` of a type, a field or an argument. */
export interface Directive<A extends object> {
  (...args: [keyof A] extends [never] ? [] : {} extends A ? [args?: A] : [args: A]): AppliedDirective;
  /** @internal */
  readonly "~directive": DirectiveNode;
}

/** The options of a directive. */
export interface DirectiveOptions<F extends InputFields> {
  /** The places that it may be applied to. */
  readonly on: readonly `${DirectiveLocation}`[];
  readonly args?: F;
  /** Whether one place may have it several times. @default false */
  readonly repeatable?: boolean;
  readonly description?: string;
}

/** The arguments that may be omitted. */
export type OmittableArgs<F> = {
  [K in keyof F]: F[K] extends Arg<any> | OptionalType<any> | NullableType<any, any> ? K : never;
}[keyof F];
/** The arguments of a directive when it is applied. Those that are nullable or optional, or declared with `t.arg`, may be omitted. */
export type DirectiveArgs<F> = Simplify<
  { readonly [K in Exclude<keyof F, OmittableArgs<F>>]: InOf<F[K]> } & { readonly [K in OmittableArgs<F>]?: InOf<F[K]> }
>;

/**
 * Declares a directive. A schema defines the directives that are applied in it and those in its option `directives`.
 * `printSchema` prints where they are applied, and the `extensions.directives` of each place contain them for other tools.
 * Portico does nothing else with them.
 *
 * @example
 * ```ts
 * import { field, t } from "portico/graphql";
 *
 * const cacheControl = t.directive("cacheControl", { on: ["FIELD_DEFINITION"], args: { maxAge: t.int } });
 *
 * export const motto = field(t.string, { directives: [cacheControl({ maxAge: 60 })] })(() => "festina lente");
 * ```
 */
export function directive<const F extends InputFields = {}>(
  name: string,
  options: DirectiveOptions<F>,
): Directive<DirectiveArgs<F>> {
  checkName("t.directive", name);
  const place = `t.directive ${name}`;
  const { on, args = {}, repeatable = false, description } = resolveOptions(place, options, rules);
  if (on === undefined) throw new ResolverError(`${place}.on`, "is missing: list the places that it may be applied to");
  const node: DirectiveNode = {
    name,
    description,
    locations: on,
    isRepeatable: repeatable,
    args: Object.entries(args).map(([key, value]) => [key, inputField(`${place}.${key}`, value, false)] as const),
  };
  // Its type says which arguments there are, and the schema checks their values when it is built.
  const apply = (...[args = {}]: any[]): AppliedDirective => ({ "~kind": "directive", directive: node, args });
  return Object.assign(apply, { "~directive": node });
}

/** The directive that was passed without being called; `undefined` for anything else. */
export function directiveIn(value: unknown): DirectiveNode | undefined {
  return typeof value === "function" ? (value as Partial<Directive<object>>)["~directive"] : undefined;
}

const LOCATIONS: ReadonlySet<unknown> = new Set(Object.values(DirectiveLocation));

const rules = {
  on: listOf<DirectiveLocation>("a list of locations, such as FIELD_DEFINITION", (entry) => LOCATIONS.has(entry)),
  args: objectRule<InputFields>("an object of types"),
  repeatable: flag,
  description: text,
} as const satisfies Record<string, OptionRule<unknown>>;
