import SchemaBuilder from "@pothos/core";
import { buildSchema, type GraphQLFieldResolver, type GraphQLObjectType, type GraphQLSchema } from "graphql";
import { Graph } from "portico/graphql";
import { type GraphPlace, gatedField, gatedList, gatedObject, graphPlace, SELECTED } from "./graph-place.ts";
import type { Owner } from "./model.ts";
import type { Guard, Place, Site } from "./place.ts";
import { type Row, rowOf, rows } from "./probe.ts";

// Gates by coordinate, on schemas that were built without Portico.

type Resolver = GraphQLFieldResolver<any, unknown, any>;
type Build = (site: Site) => GraphQLSchema;

const rowFor: Resolver = (_parent, { owner }: { readonly owner: Owner }) => rowOf(owner);
const calling =
  (name: string, rest: string) =>
  (owner: Owner): string =>
    `${name}(owner: "${owner}") ${rest}`;

/** A schema from SDL, with these resolvers by coordinate. */
function fromSdl(sdl: string, resolvers: (site: Site) => Readonly<Record<string, Resolver>>): Build {
  return (site) => {
    // Without a subscription type, the endpoint has no socket and no event streams.
    const events = sdl.includes("type Subscription") ? "" : "type Subscription { none: Int }";
    const schema = buildSchema(`${sdl} ${events} extend type Query { open: Int }`);
    const all: Readonly<Record<string, Resolver>> = { "Query.open": () => 1, ...resolvers(site) };
    for (const [coordinate, resolve] of Object.entries(all)) {
      const [type = "", name = ""] = coordinate.split(".");
      const field = (schema.getType(type) as GraphQLObjectType).getFields()[name] as object;
      Object.assign(field, type === "Subscription" ? { subscribe: resolve } : { resolve });
    }
    return schema;
  };
}

const secretOf =
  ({ probe }: Site): Resolver =>
  (row: Row) =>
    probe.reveal(row.owner);
const ROW = "{ id: ID! owner: String! plain: String secret: String }";

function fromPothos({ probe }: Site): GraphQLSchema {
  const builder = new SchemaBuilder<{ Objects: { Sold: Row } }>({});
  builder.objectType("Sold", {
    fields: (t) => ({
      plain: t.exposeString("plain", { nullable: true }),
      secret: t.string({ nullable: true, resolve: ({ owner }) => probe.reveal(owner) }),
    }),
  });
  builder.queryType({
    fields: (t) => ({
      sold: t.field({
        type: "Sold",
        nullable: true,
        args: { owner: t.arg.string({ required: true }) },
        resolve: (_parent, { owner }) => rowOf(owner as Owner),
      }),
      allSold: t.field({ type: ["Sold"], nullable: true, resolve: () => [...rows] }),
    }),
  });
  return builder.toSchema();
}

/** A place at an endpoint of its own. */
function at(
  coordinate: string,
  path: string,
  build: Build,
  place: Omit<GraphPlace, "path" | "declare" | "isVariant"> & { readonly isVariant?: boolean },
): Place {
  const { isVariant = true, ...others } = place;
  const whole = graphPlace({
    ...others,
    ...(isVariant ? { isVariant } : {}),
    path,
    declare(site: Site, { gate }: Guard) {
      const rules = gate.auth === undefined ? {} : { [coordinate]: gate.auth };
      const subscriptions = { operations: true, connectsPerMinute: 0 };
      new Graph(build(site), { path: path as "/", rules, subscriptions }).mount(site.app);
    },
  });
  // These schemas take no files.
  return { ...whole, transports: whole.transports.filter((transport) => transport !== "multipart") };
}

const places: readonly Place[] = [
  at(
    "Query.read",
    "/sdl-read",
    fromSdl("type Query { read(owner: String!): String }", ({ probe }) => ({
      "Query.read": (_parent, { owner }: { readonly owner: Owner }) => probe.reveal(owner),
    })),
    {
      name: "query field by coordinate",
      hasObject: false,
      isVariant: false,
      type: "query",
      selection: calling("read", ""),
      expected: gatedField("read"),
    },
  ),
  at(
    "Mutation.write",
    "/sdl-write",
    fromSdl("type Query { a: Int } type Mutation { write(owner: String!): String }", ({ probe }) => ({
      "Mutation.write": (_parent, { owner }: { readonly owner: Owner }) => probe.reveal(owner),
    })),
    {
      name: "mutation field by coordinate",
      hasObject: false,
      type: "mutation",
      selection: calling("write", ""),
      expected: gatedField("write"),
    },
  ),
  at(
    "Subscription.watch",
    "/sdl-watch",
    fromSdl("type Query { a: Int } type Subscription { watch(owner: String!): String }", ({ probe }) => ({
      "Subscription.watch": async function* (_parent, { owner }: { readonly owner: Owner }) {
        yield { watch: probe.reveal(owner) };
      },
    })),
    {
      name: "subscription field by coordinate",
      hasObject: false,
      type: "subscription",
      selection: calling("watch", ""),
      expected(view) {
        const found = view.verdict(view.owner);
        if (found.is === "allowed") return gatedField("watch")(view);
        return { shown: [{ errors: [`watch ${found.code}`] }], revealed: [] };
      },
    },
  ),
  at(
    "Box.secret",
    "/sdl-box",
    fromSdl(`type Box ${ROW} type Query { box(owner: String!): Box }`, (site) => ({
      "Query.box": rowFor,
      "Box.secret": secretOf(site),
    })),
    {
      name: "field of an object by coordinate",
      hasObject: true,
      type: "query",
      selection: calling("box", "{ secret }"),
      expected: gatedField("box.secret", (value) => ({ secret: value })),
    },
  ),
  at(
    "One",
    "/sdl-one",
    fromSdl(`type One ${ROW} type Query { one(owner: String!): One }`, (site) => ({
      "Query.one": rowFor,
      "One.secret": secretOf(site),
    })),
    {
      name: "object by coordinate",
      hasObject: true,
      isVariant: false,
      type: "query",
      selection: calling("one", SELECTED),
      expected: gatedObject("one"),
    },
  ),
  at(
    "Face",
    "/sdl-face",
    fromSdl(
      `interface Face ${ROW} type Faced implements Face ${ROW} type Query { face(owner: String!): Face }`,
      (site) => ({
        "Query.face": async (_parent, { owner }: { readonly owner: Owner }) => ({
          ...rowOf(owner),
          __typename: "Faced",
        }),
        "Faced.secret": secretOf(site),
      }),
    ),
    {
      name: "interface by coordinate",
      hasObject: true,
      type: "query",
      selection: calling("face", SELECTED),
      expected: gatedObject("face"),
    },
  ),
  at(
    "Member",
    "/sdl-any",
    fromSdl(
      `type Member ${ROW} type Free { id: ID! } union Any = Free | Member type Query { any: [Any!] }`,
      (site) => ({
        "Query.any": () => [
          ...rows.map((row) => ({ ...row, __typename: "Member" })),
          { id: "free", __typename: "Free" },
        ],
        "Member.secret": secretOf(site),
      }),
    ),
    {
      name: "members of a union in a list by coordinate",
      hasObject: true,
      isList: true,
      type: "query",
      selection: () => `any { ... on Member ${SELECTED} ... on Free { id } }`,
      expected: gatedList("any", (items) => [...items, { id: "free" }]),
    },
  ),
];

const pothosPlaces: readonly Place[] = [
  at("Sold", "/pothos-one", fromPothos, {
    name: "object of Pothos by coordinate",
    hasObject: true,
    type: "query",
    selection: calling("sold", SELECTED),
    expected: gatedObject("sold"),
  }),
  at("Sold", "/pothos-list", fromPothos, {
    name: "objects of Pothos in a list by coordinate",
    hasObject: true,
    isList: true,
    type: "query",
    selection: () => `allSold ${SELECTED}`,
    expected: gatedList("allSold"),
  }),
];

/** Pothos brings the graphql that is installed beside it: the tests of the other major cannot use it. */
export const coordinatePlaces: readonly Place[] =
  process.env["PORTICO_GRAPHQL"] === "17" ? places : [...places, ...pothosPlaces];
