import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLError,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLFloat,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
} from "graphql";
import { Chance } from "./chance.ts";
import type { World } from "./world.ts";

/** A schema with random types, whose resolvers do what the world in the context value says. */
export function randomSchema(seed: string): GraphQLSchema {
  const chance = new Chance(seed);
  const shared = sharedTypes();
  const named = chance.is(0.5);
  const typeResolver = (value: unknown, world: World, info: GraphQLResolveInfo): never =>
    typeName(value, world, info) as never;
  const Named = new GraphQLInterfaceType({
    name: "Named",
    fields: { id: { type: GraphQLID }, name: { type: GraphQLString } },
    ...(named ? { resolveType: typeResolver } : {}),
  });
  const objects: GraphQLObjectType[] = [];
  const names = ["A", "B", "C", "D"];
  const composites: (() => GraphQLOutputType)[] = [
    ...names.map((_, index) => () => objects[index] as GraphQLObjectType),
    () => Named,
    () => Either,
  ];
  const fields = (owner: string, count: number): (() => GraphQLFieldConfigMap<unknown, World>) => {
    const plan = Array.from({ length: count }, (_, index) => ({
      name: `f${index}`,
      named: chance.is(0.55) ? () => chance0(shared, `${seed}${owner}${index}`) : chance.pick(composites),
      wrap: chance.below(10),
      hasResolver: chance.is(0.5),
      hasArgs: chance.is(0.3),
    }));
    return () => ({
      id: { type: GraphQLID },
      name: { type: GraphQLString, ...(chance.is(0.3) ? { resolve: resolver } : {}) },
      ...Object.fromEntries(
        plan.map(({ name, named: type, wrap, hasResolver, hasArgs }) => [
          name,
          {
            type: wrapped(type(), wrap),
            ...(hasArgs ? { args: argsOf(shared) } : {}),
            ...(hasResolver ? { resolve: resolver } : {}),
          },
        ]),
      ),
    });
  };
  for (const name of names) {
    const checks = chance.is(0.3);
    objects.push(
      new GraphQLObjectType({
        name,
        interfaces: chance.is(0.6) ? [Named] : [],
        fields: fields(name, 4),
        ...(checks
          ? { isTypeOf: (value: unknown, world: World, info: GraphQLResolveInfo) => isOf(name, value, world, info) }
          : {}),
      }),
    );
  }
  const Either = new GraphQLUnionType({
    name: "Either",
    types: objects.slice(0, 2 + chance.below(3)),
    ...(named ? {} : { resolveType: typeResolver }),
  });
  return new GraphQLSchema({
    query: new GraphQLObjectType({ name: "Query", fields: fields("Query", 6) }),
    mutation: new GraphQLObjectType({ name: "Mutation", fields: fields("Mutation", 4) }),
    types: objects,
  });
}

type Shared = ReturnType<typeof sharedTypes>;

function sharedTypes(): {
  readonly leaves: readonly GraphQLOutputType[];
  readonly Color: GraphQLEnumType;
  readonly Filter: GraphQLInputObjectType;
} {
  const Color = new GraphQLEnumType({
    name: "Color",
    values: { RED: { value: 1 }, GREEN: {}, BLUE: { value: { blue: 1 } } },
  });
  const Odd = new GraphQLScalarType({
    name: "Odd",
    serialize: (value) => {
      if (value === 2) throw new GraphQLError("even");
      if (value === "none") return null;
      if (value === 3) throw new Error("three");
      return value;
    },
  });
  const Filter = new GraphQLInputObjectType({
    name: "Filter",
    fields: () => ({
      text: { type: GraphQLString, defaultValue: "d" },
      list: { type: new GraphQLList(GraphQLInt) },
      color: { type: Color },
    }),
  });
  const leaves = [GraphQLString, GraphQLInt, GraphQLFloat, GraphQLID, GraphQLBoolean, Color, Odd];
  return { leaves, Color, Filter };
}

function chance0({ leaves }: Shared, seed: string): GraphQLOutputType {
  return new Chance(seed).pick(leaves);
}

function argsOf({ Color, Filter }: Shared): GraphQLFieldConfigArgumentMap {
  return {
    n: { type: GraphQLInt, defaultValue: 3 },
    s: { type: new GraphQLNonNull(GraphQLString), defaultValue: "s" },
    color: { type: Color },
    filter: { type: Filter },
  };
}

function wrapped(type: GraphQLOutputType, kind: number): GraphQLOutputType {
  const nonNull = (inner: GraphQLOutputType): GraphQLOutputType => new GraphQLNonNull(inner as GraphQLObjectType);
  const list = (inner: GraphQLOutputType): GraphQLOutputType => new GraphQLList(inner);
  if (kind < 3) return type;
  if (kind < 5) return nonNull(type);
  if (kind === 5) return list(type);
  if (kind === 6) return list(nonNull(type));
  if (kind === 7) return nonNull(list(nonNull(type)));
  return kind === 8 ? nonNull(list(type)) : list(list(nonNull(type)));
}

/** A resolver that behaves as the world says, changes its arguments, and sometimes tells all that it received. */
function resolver(_source: unknown, args: Record<string, unknown>, world: World, info: GraphQLResolveInfo): unknown {
  const place = placeOf(info);
  const said = describe(args, info);
  args["n"] = "changed";
  for (const value of Object.values(args)) if (isOwn(value)) (value as Record<string, unknown>)["text"] = "changed";
  if (String(info.returnType).startsWith("String") && world.chance(`${place} tells`).is(0.5)) return said;
  return world.value(info.returnType, place);
}

/** Enum values are shared by all calls. */
const isOwn = (value: unknown): boolean => typeof value === "object" && value !== null && !("blue" in value);

function describe(args: object, info: GraphQLResolveInfo): string {
  const { fieldNodes, path, parentType, variableValues, operation, rootValue } = info;
  const starts = fieldNodes.map(({ loc }) => loc?.start);
  const facts = [
    Object.keys(info),
    Object.getPrototypeOf(args) === null,
    args,
    starts,
    path,
    parentType.name,
    // Its getters would be called.
    typeof rootValue,
  ];
  return JSON.stringify(
    [...facts, variableValues, operation.operation, Object.keys(info.fragments)],
    (key, value: unknown) => (key === "signature" ? undefined : value),
  );
}

function placeOf({ path, fieldName }: GraphQLResolveInfo): string {
  const keys: (string | number)[] = [];
  for (let at: GraphQLResolveInfo["path"] | undefined = path.prev; at !== undefined; at = at.prev) keys.unshift(at.key);
  return [...keys, fieldName].join(".");
}

function typeName(value: unknown, world: World, info: GraphQLResolveInfo): unknown {
  const own = nameIn(value);
  const chance = world.chance(`${placeOf(info)} type`);
  const name = chance.is(0.85) ? own : chance.pick([undefined, "Missing", "Color", "Query", 7, info.parentType]);
  if (chance.is(0.05)) throw new Error("type resolver");
  return world.sometimesLater(chance, name);
}

function isOf(name: string, value: unknown, world: World, info: GraphQLResolveInfo): boolean | Promise<boolean> {
  const chance = world.chance(`${placeOf(info)} is ${name}`);
  if (chance.is(0.05)) throw new Error("isTypeOf");
  const verdict = chance.is(0.1) ? chance.is(0.5) : nameIn(value) === name;
  return world.sometimesLater(chance, verdict);
}

function nameIn(value: unknown): unknown {
  return (value as Readonly<Record<string, unknown>> | null)?.["__typename"];
}
