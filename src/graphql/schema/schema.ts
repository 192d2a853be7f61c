import { GraphQLSchema, validateSchema } from "graphql";
import { type OptionRule, optionRule, resolveOptions, text } from "../../core/resolve-options.ts";
import type { Operation } from "../fields/field-def.ts";
import { ResolverError } from "../fields/resolver-error.ts";
import type { GraphType } from "../types/graph-type.ts";
import type { AnyRef } from "../types/type-node.ts";
import { checkTypeResolver } from "./abstract-type-resolver.ts";
import { checkOneGraphql } from "./check-one-graphql.ts";
import { type CheckRoot, type RootSource, rootFields } from "./root-fields.ts";
import { SchemaTypes } from "./schema-types.ts";
import { TypeNames } from "./type-names.ts";

/** The parts of a schema. Each root is an object of fields, an instance or a class with fields, or a list of these. */
export interface SchemaConfig<Q, M, S> {
  readonly query: Q & CheckRoot<NoInfer<Q>, "field">;
  readonly mutation?: M & CheckRoot<NoInfer<M>, "mutation">;
  readonly subscription?: S & CheckRoot<NoInfer<S>, "subscription">;
  /** Types that no field refers to: those that are referenced by name, or that only implement an interface. */
  readonly types?: readonly (GraphType<any, any> | (abstract new (...args: never) => object))[];
  readonly description?: string;
}

/**
 * Builds a `GraphQLSchema` from fields. Throws `ResolverError` with the coordinate of an invalid field or type.
 *
 * @example
 * ```ts
 * import { field, mutation, printSchema, schema, t } from "portico/graphql";
 *
 * const query = { hello: field(t.string, { params: { name: t.string("world") } })(({ name }) => `Hello ${name}`) };
 * const mutations = { shout: mutation(t.string, { params: { text: t.string } })(({ text }) => text.toUpperCase()) };
 *
 * console.log(printSchema(schema({ query, mutation: mutations })));
 * ```
 */
export function schema<Q extends RootSource, M extends RootSource = {}, S extends RootSource = {}>(
  config: SchemaConfig<Q, M, S>,
): GraphQLSchema {
  checkOneGraphql();
  const { description, types = [], ...sources } = resolveOptions("schema", config, rules);
  const names = new TypeNames();
  const roots = ROOTS.flatMap(([key, name, operation]) => {
    const source = sources[key];
    return source === undefined ? [] : [{ key, name, fields: rootFields(name, operation, source) }];
  });
  for (const { name, fields } of roots) for (const { key, field } of fields) names.addField(`${name}.${key}`, field);
  for (const type of types) names.addType("schema.types", type);
  for (const node of names.nodes()) {
    if (node.kind === "interface" || node.kind === "union") checkTypeResolver(node, names.members(node));
  }

  const built = new SchemaTypes(names);
  const rootTypes = Object.fromEntries(roots.map(({ key, name, fields }) => [key, built.root(name, fields)]));
  const result = new GraphQLSchema({ ...rootTypes, types: built.all(), description });
  const faults = validateSchema(result);
  if (faults.length > 0) throw new ResolverError("schema", faults.map(({ message }) => message).join("; "));
  return result;
}

const ROOTS: readonly (readonly ["query" | "mutation" | "subscription", name: string, Operation])[] = [
  ["query", "Query", "field"],
  ["mutation", "Mutation", "mutation"],
  ["subscription", "Subscription", "subscription"],
];

const root: OptionRule<unknown> = optionRule(
  "an object of fields, an instance or a class with fields, or a list of these",
  (value) => (typeof value === "object" && value !== null) || typeof value === "function",
);
const rules = {
  query: { ...root, strict: true },
  mutation: { ...root, strict: true },
  subscription: { ...root, strict: true },
  types: optionRule<readonly AnyRef[]>("a list of types", Array.isArray),
  description: text,
} as const;
