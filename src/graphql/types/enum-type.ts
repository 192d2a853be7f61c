import { resolveOptions, text } from "../../core/resolve-options.ts";
import { ResolverError } from "../fields/resolver-error.ts";
import { arg } from "./arg.ts";
import type { Arg, GraphType } from "./graph-type.ts";
import type { EnumNode, EnumValueNode } from "./type-node.ts";
import { checkName, type TypeOptions, typeRules } from "./type-options.ts";

/**
 * An enum type: a union of strings in TypeScript. Call it with one of them to declare an argument with that default.
 */
export interface EnumType<T> extends GraphType<T, T, "enum"> {
  (defaultValue: T): Arg<T>;
}

/** The options of an enum value. */
export interface EnumValueOptions {
  readonly description?: string;
  readonly deprecationReason?: string;
}

/**
 * Declares an enum from a list of values, or from an object when values have a description or a deprecation.
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
 * ```
 */
export function enumOf<const V extends string>(
  name: string,
  values: readonly V[] | Readonly<Record<V, EnumValueOptions>>,
  options: TypeOptions = {},
): EnumType<V> {
  const place = "t.enum";
  checkName(place, name);
  const { description } = resolveOptions(`${place} ${name}`, options, typeRules);
  const node: EnumNode = { kind: "enum", name, description, values: readValues(`${place} ${name}`, values) };
  if (Object.keys(node.values).length === 0)
    throw new ResolverError(`${place} ${name}`, "must have at least one value");
  const self: EnumType<V> = Object.assign((defaultValue: V): Arg<V> => arg(self, { default: defaultValue }), {
    "~kind": "enum" as const,
    "~node": node,
  });
  return self;
}

function readValues(
  place: string,
  values: readonly string[] | Readonly<Record<string, EnumValueOptions>>,
): Readonly<Record<string, EnumValueNode>> {
  const entries = isList(values) ? values.map((value) => [value, {}] as const) : Object.entries(values);
  const read: Record<string, EnumValueNode> = {};
  for (const [value, options] of entries) {
    checkName(place, value);
    if (Object.hasOwn(read, value)) throw new ResolverError(place, `declares the value ${value} twice`);
    read[value] = resolveOptions(`${place}.${value}`, options, valueRules);
  }
  return read;
}

function isList(values: readonly string[] | object): values is readonly string[] {
  return Array.isArray(values);
}

const valueRules = { description: text, deprecationReason: text } as const;
