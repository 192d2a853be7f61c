import { optionRule, resolveOptions, strict, text } from "../../../core/resolve-options.ts";
import { arg } from "../references/arg.ts";
import type { Arg, GraphType } from "../references/graph-type.ts";
import { ResolverError } from "../references/resolver-error.ts";
import type { AppliedDirective, EnumNode, EnumValueNode } from "../references/type-node.ts";
import { checkName, directiveList, type TypeOptions, typeRules } from "../references/type-options.ts";

/**
 * An enum type: a union of its values in TypeScript. Call it with one of them to declare an argument with that default.
 */
export interface EnumType<T> extends GraphType<T, T, "enum"> {
  (defaultValue: T): Arg<T>;
}

/** The options of an enum value. */
export interface EnumValueOptions {
  /** The value that resolvers return and receive. @default the name */
  readonly value?: unknown;
  readonly description?: string;
  readonly deprecationReason?: string;
  /** Directives made by `t.directive`, with their arguments. @default none */
  readonly directives?: readonly AppliedDirective[];
}

/** The values of an enum by name: a string or a number stands for itself, an object for its `value` or else its name. */
export type EnumValues = Readonly<Record<string, string | number | EnumValueOptions>>;
/** The union of these values. */
export type EnumValueOf<V> = {
  readonly [K in keyof V]: V[K] extends string | number ? V[K] : V[K] extends { readonly value: infer T } ? T : K;
}[keyof V];

/**
 * Declares an enum from a list of names, or from an object if the values in your code differ from the names, or have a
 * description or a deprecation. Clients only see the names.
 *
 * @example
 * ```ts
 * import { t } from "portico/graphql";
 *
 * export const Genre = t.enum("Genre", ["novel", "poetry"]);
 * export const Binding = t.enum("Binding", {
 *   paperback: {},
 *   leather: { deprecationReason: "Not made any more." },
 * });
 * export const Status = t.enum("Status", { ACTIVE: 1, SOLD: 2 }); // 1 | 2 in resolvers
 * ```
 */
export function enumOf<const V extends string>(name: string, values: readonly V[], options?: TypeOptions): EnumType<V>;
export function enumOf<const V extends EnumValues>(
  name: string,
  values: V,
  options?: TypeOptions,
): EnumType<EnumValueOf<V>>;
export function enumOf(
  name: string,
  values: readonly string[] | EnumValues,
  options: TypeOptions = {},
): EnumType<unknown> {
  const place = "t.enum";
  checkName(place, name);
  const { description, directives } = resolveOptions(`${place} ${name}`, options, typeRules);
  const node: EnumNode = {
    kind: "enum",
    name,
    description,
    directives,
    values: readValues(`${place} ${name}`, values),
  };
  if (Object.keys(node.values).length === 0)
    throw new ResolverError(`${place} ${name}`, "must have at least one value");
  const self: EnumType<unknown> = Object.assign(
    (defaultValue: unknown): Arg<unknown> => arg(self, { default: defaultValue }),
    { "~kind": "enum" as const, "~node": node },
  );
  return self;
}

function readValues(place: string, values: readonly string[] | EnumValues): Readonly<Record<string, EnumValueNode>> {
  const entries = isList(values) ? values.map((name) => [name, name] as const) : Object.entries(values);
  const read: Record<string, EnumValueNode> = {};
  const names = new Map<unknown, string>();
  for (const [name, written] of entries) {
    checkName(place, name);
    if (Object.hasOwn(read, name)) throw new ResolverError(place, `declares the value ${name} twice`);
    const isPlain = typeof written === "string" || typeof written === "number";
    const options = resolveOptions(`${place}.${name}`, isPlain ? { value: written } : written, valueRules);
    const value = options.value ?? name;
    const other = names.get(value);
    // A resolver returns the value, and only one name could be sent for it.
    if (other !== undefined) throw new ResolverError(place, `${other} and ${name} have the same value`);
    names.set(value, name);
    read[name] = { ...options, value };
  }
  return read;
}

function isList(values: readonly string[] | EnumValues): values is readonly string[] {
  return Array.isArray(values);
}

const valueRules = {
  // Null would be an absent value, and NaN is not equal to itself.
  value: strict(optionRule<unknown>("a value other than null, undefined and NaN", isValue)),
  description: text,
  deprecationReason: text,
  directives: directiveList,
};

function isValue(value: unknown): boolean {
  return value !== null && value !== undefined && !Number.isNaN(value);
}
