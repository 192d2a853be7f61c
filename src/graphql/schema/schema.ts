import { GraphQLSchema, specifiedDirectives, validateSchema } from "graphql";
import { listOf, objectWith, optionRule, resolveOptions, strict, text } from "../../core/resolve-options.ts";
import type { Operation } from "../declare/fields/field-declaration.ts";
import type { GraphType } from "../declare/references/graph-type.ts";
import { ResolverError } from "../declare/references/resolver-error.ts";
import type { AnyRef, AppliedDirective, ObjectNode } from "../declare/references/type-node.ts";
import { checkName } from "../declare/references/type-options.ts";
import { type Directive, directiveIn } from "../declare/types/directive.ts";
import { nodeFields } from "../declare/types/node-fields.ts";
import { checkTypeResolver } from "./abstract-type-resolver.ts";
import { checkOneGraphql } from "./check-one-graphql.ts";
import type { PlacedField } from "./field-config.ts";
import { noteOwnSchema } from "./is-own-schema.ts";
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
  /**
   * The names of the root types. `t.ref` with the name of the query type refers to it.
   * @default { query: "Query", mutation: "Mutation", subscription: "Subscription" }
   */
  readonly names?: { readonly query?: string; readonly mutation?: string; readonly subscription?: string };
  /**
   * Directives made by `t.directive`: those to define although nothing in the schema has them, such as directives for queries,
   * and those that the schema itself has, with their arguments. @default none
   */
  readonly directives?: readonly (Directive<any> | AppliedDirective)[];
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
  const {
    description,
    types = [],
    names: rootNames,
    directives = [],
    ...sources
  } = resolveOptions("schema", config, rules);
  const names = new TypeNames();
  const rootNodes = readNames(sources, rootNames ?? {}, names);
  const declared = rootsOf(sources, rootNodes);
  addFields(names, declared);
  const applied = directives.filter((entry): entry is AppliedDirective => typeof entry === "object");
  for (const entry of directives)
    names.addDirective("schema.directives", directiveIn(entry) ?? (entry as AppliedDirective).directive);
  for (const type of types) names.addType("schema.types", type);
  const nodes = names.nodes().filter((node): node is ObjectNode => node.kind === "object" && node.node !== null);
  const roots =
    nodes.length === 0
      ? declared
      : rootsOf({ ...sources, query: [sources.query, nodeFields(nodes)].flat() }, rootNodes);
  addFields(names, roots);
  for (const node of names.nodes()) {
    if (node.kind === "interface" || node.kind === "union") checkTypeResolver(node, names.members(node));
  }

  const built = new SchemaTypes(names);
  const rootTypes = Object.fromEntries(roots.map(({ key, node, fields }) => [key, built.root(node, fields)]));
  const result = new GraphQLSchema({
    ...rootTypes,
    types: built.all(),
    directives: [...specifiedDirectives, ...built.directives()],
    description,
    extensions: built.marks("schema.directives", "SCHEMA", applied),
  });
  const faults = validateSchema(result);
  if (faults.length > 0) throw new ResolverError("schema", faults.map(({ message }) => message).join("; "));
  noteOwnSchema(result);
  return result;
}

interface Root {
  readonly key: keyof Sources;
  readonly node: ObjectNode;
  readonly fields: readonly PlacedField[];
}
type RootKey = "query" | "mutation" | "subscription";
type Sources = Readonly<Record<RootKey, unknown>>;

/** Adds the root types under their names. */
function readNames(
  sources: Sources,
  given: Readonly<Partial<Record<RootKey, string>>>,
  names: TypeNames,
): ReadonlyMap<RootKey, ObjectNode> {
  const nodes = new Map<RootKey, ObjectNode>();
  for (const [key, usual] of ROOTS) {
    const name = given[key] ?? usual;
    checkName(`schema.names.${key}`, name);
    if (sources[key] !== undefined) nodes.set(key, names.addRoot(name, key));
    else if (given[key] !== undefined)
      throw new ResolverError(`schema.names.${key}`, `names a root type, but the schema has no ${key}`);
  }
  return nodes;
}

function rootsOf(sources: Sources, nodes: ReadonlyMap<RootKey, ObjectNode>): readonly Root[] {
  return ROOTS.flatMap(([key, , operation]) => {
    const node = nodes.get(key);
    return node === undefined ? [] : [{ key, node, fields: rootFields(node.name, operation, sources[key]) }];
  });
}

function addFields(names: TypeNames, roots: readonly Root[]): void {
  for (const { node, fields } of roots)
    for (const { key, field } of fields) names.addField(`${node.name}.${key}`, field);
}

const ROOTS: readonly (readonly [RootKey, name: string, Operation])[] = [
  ["query", "Query", "field"],
  ["mutation", "Mutation", "mutation"],
  ["subscription", "Subscription", "subscription"],
];

const root = strict(
  optionRule<unknown>(
    "an object of fields, an instance or a class with fields, or a list of these",
    (value) => (typeof value === "object" && value !== null) || typeof value === "function",
  ),
);
const rules = {
  query: root,
  mutation: root,
  subscription: root,
  types: optionRule<readonly AnyRef[]>("a list of types", Array.isArray),
  description: text,
  names: objectWith<Partial<Record<RootKey, string>>>("query", "mutation", "subscription"),
  directives: listOf<unknown>(
    "a list of directives made by t.directive()",
    (entry) =>
      directiveIn(entry) !== undefined || (entry as Partial<AppliedDirective> | null)?.["~kind"] === "directive",
  ),
} as const;
