import {
  defaultFieldResolver,
  type GraphQLFieldConfig,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isListType,
  isNonNullType,
  isUnionType,
} from "graphql";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { decidesByCaller } from "../../kernel/access/gate-node.ts";
import type { WrittenAuth } from "../../kernel/access/read-gate.ts";
import type { Operation } from "../declare/fields/field-declaration.ts";
import { gateExtensions, gateIn } from "../declare/fields/gate-extensions.ts";
import {
  allReads,
  gateReads,
  noteProperty,
  noteReads,
  propertyOf,
  readsOf,
  withReadsOf,
} from "../declare/fields/reads-of.ts";
import { argsReader, checked, guarded, type Resolve } from "../schema/compile-resolver.ts";
import { resultCheck, screened } from "../schema/result-check.ts";
import { checkConnections, connectionMarks } from "./connection-resolver.ts";
import { Coordinates } from "./coordinates.ts";
import { copySchema } from "./copy-schema.ts";
import { type BuildContext, ForeignContext } from "./foreign-context.ts";
import { guardOf } from "./guard-of.ts";

/** The additions of an endpoint to a schema. */
export interface Adoption {
  readonly rules: Readonly<Record<string, WrittenAuth>>;
  readonly context: BuildContext | undefined;
}

/**
 * Copies a schema for one endpoint, so that two endpoints over one schema do not share anything that they change. Puts the rules
 * before its resolvers, which receive the context value that they expect.
 */
export function adoptSchema(schema: GraphQLSchema, { rules, context }: Adoption): GraphQLSchema {
  const coordinates = new Coordinates(schema, rules);
  checkEntities(schema, coordinates);
  const foreign = context === undefined ? null : new ForeignContext(context);
  const operations = operationsOf(schema);
  const adopted = copySchema(schema, {
    field: (given, type, name) => {
      const config = { ...given, extensions: { ...given.extensions, ...connectionMarks(given.resolve) } };
      const own = foreign === null ? config : withContext(config, name, foreign, operations.get(type));
      if (coordinates.isEmpty) return own;
      return guardedField(own, { schema, coordinates, type, name, operation: operations.get(type) });
    },
    object: (config) => ({
      ...config,
      isTypeOf: foreign === null || !config.isTypeOf ? config.isTypeOf : foreign.isTypeOf(config.isTypeOf),
      extensions: { ...config.extensions, ...gateExtensions([gateIn(config), coordinates.ofType(config.name)]) },
    }),
    abstract: (config) => ({
      ...config,
      resolveType:
        foreign === null || !config.resolveType ? config.resolveType : foreign.typeResolver(config.resolveType),
    }),
  });
  checkConnections(schema, adopted);
  return adopted;
}

function operationsOf(schema: GraphQLSchema): ReadonlyMap<string, Operation> {
  const roots = [
    [schema.getQueryType(), "field"],
    [schema.getMutationType(), "mutation"],
    [schema.getSubscriptionType(), "subscription"],
  ] as const;
  return new Map(roots.flatMap(([type, operation]) => (type ? [[type.name, operation]] : [])));
}

type FieldConfig = GraphQLFieldConfig<any, any>;

function withContext(
  config: FieldConfig,
  name: string,
  foreign: ForeignContext,
  operation: Operation | undefined,
): FieldConfig {
  const { resolve = defaultFieldResolver, subscribe } = config;
  return {
    ...config,
    resolve: withReadsOf({ name, resolve }, foreign.resolver(resolve)),
    ...(operation === "subscription" ? { subscribe: foreign.resolver(subscribe ?? defaultFieldResolver) } : {}),
  };
}

interface Place {
  readonly schema: GraphQLSchema;
  readonly coordinates: Coordinates;
  readonly type: string;
  readonly name: string;
  /** The operation that a root field belongs to. */
  readonly operation: Operation | undefined;
}

/** Puts the gate of a field before its resolver, and the gates of its objects behind it. */
function guardedField(
  config: FieldConfig,
  { schema, coordinates, type, name, operation = "field" }: Place,
): FieldConfig {
  const gate = coordinates.ofField(type, name);
  const isMutation = operation === "mutation";
  const guard = guardOf(schema, coordinates, config.type, isMutation);
  if (gate === null && guard === null && !isMutation) return config;
  if (guard !== null && operation === "field") checkNullable(config.type, `${type}.${name}`);
  const field = { operation, limits: [], gates: gate === null ? [] : [gate] };
  const args = argsReader(Object.keys(config.args ?? {}).map((key) => ({ key, name: key, complete: null })));
  const check = resultCheck(`${type}.${name}`, { isPresent: false, guard, isMutation });
  const resolve = (config.resolve ?? defaultFieldResolver) as Resolve;
  const reads = readsOf({ name, resolve: config.resolve });
  const subscribe = (config.subscribe ?? defaultFieldResolver) as Resolve;
  return {
    ...config,
    extensions: { ...config.extensions, ...gateExtensions([gateIn({ extensions: config.extensions ?? {} }), gate]) },
    ...(operation === "subscription"
      ? { subscribe: screened(guarded(field, args, subscribe), guard, resolve), resolve: checked(resolve, check) }
      : {
          resolve: noteProperty(
            noteReads(guarded(field, args, checked(resolve, check)), allReads([reads, gateReads(field.gates)])),
            propertyOf({ name, resolve: config.resolve }),
          ),
        }),
  };
}

/** A refused object becomes null, which would remove its parent too. A list comes without it. */
function checkNullable(type: GraphQLOutputType, place: string): void {
  if (!isNonNullType(type) || isListType(type.ofType)) return;
  const name = String(type.ofType);
  throw new ConfigurationError(
    `Graph.rules`,
    `guards ${name}, but ${place} is ${name}!: a refused object becomes null, so make the field nullable`,
  );
}

/**
 * Rejects rules about an entity of a subgraph that its type does not load. Its objects would be the representations that the
 * client sent, so the client would choose the values that the rules decide about.
 */
function checkEntities(schema: GraphQLSchema, coordinates: Coordinates): void {
  const entities = schema.getType("_Entity");
  if (!isUnionType(entities)) return;
  for (const type of entities.getTypes()) {
    if (loadsReference(type)) continue;
    const place = guardedPlace(type, coordinates);
    if (place !== null)
      throw new ConfigurationError(
        `Graph.rules[${JSON.stringify(place)}]`,
        `guards the entity ${type.name}, which has no __resolveReference: its objects would be what the client sent. Add a __resolveReference to ${type.name} that loads the object by its key`,
      );
  }
}

/** The first place that decides about objects of this type. A gate of a field may also decide about the caller alone. */
function guardedPlace(type: GraphQLObjectType, coordinates: Coordinates): string | null {
  if (coordinates.ofType(type.name) !== null) return type.name;
  const field = Object.keys(type.getFields()).find((name) => {
    const gate = coordinates.ofField(type.name, name);
    return gate !== null && !decidesByCaller(gate);
  });
  return field === undefined ? null : `${type.name}.${field}`;
}

/** Whether the type has a `__resolveReference`, which `@apollo/subgraph` and the libraries upon it keep here. */
function loadsReference({ extensions }: GraphQLObjectType): boolean {
  const { apollo } = extensions as {
    readonly apollo?: { readonly subgraph?: { readonly resolveReference?: unknown } };
  };
  return typeof apollo?.subgraph?.resolveReference === "function";
}
