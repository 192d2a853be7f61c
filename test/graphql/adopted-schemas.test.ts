import { buildSubgraphSchema } from "@apollo/subgraph";
import { makeExecutableSchema } from "@graphql-tools/schema";
import SchemaBuilder from "@pothos/core";
import { type GraphQLSchema, parse } from "graphql";
import { ConfigurationError, Depend, isEqual, PorticoApp, rule } from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import { Graph, type GraphOptions, type GraphRules, inject } from "portico/graphql";
import { testClient } from "portico/testing";
import { afterEach, describe, expect, it } from "vitest";

interface Order {
  readonly id: string;
  readonly buyer: string;
}
const orders: readonly Order[] = [
  { id: "1", buyer: "ann" },
  { id: "2", buyer: "bob" },
];
const ownOrders = rule<Order>({
  name: "order.own",
  allows: (user, order) => order.buyer === user.identity,
  where: (user) => isEqual("buyer", user.identity),
});

const SDL = `
  interface Node { id: ID! }
  type Order implements Node { id: ID! buyer: String secret: String }
  type Note implements Node { id: ID! }
  union Found = Order | Note
  type Query {
    order(id: ID!): Order
    orders: [Order!]!
    slots: [Order]!
    node(id: ID!): Node
    found: [Found!]!
    audit: String
  }
  type Mutation { ship(id: ID!): Order! }
`;
const typeName = (value: unknown): string => ("buyer" in (value as object) ? "Order" : "Note");
const resolvers = {
  Node: { __resolveType: typeName },
  Found: { __resolveType: async (value: unknown) => typeName(value) },
  Order: { secret: ({ id }: Order) => `secret ${id}` },
  Query: {
    order: (_: unknown, { id }: { id: string }) => orders.find((order) => order.id === id),
    orders: () => orders,
    slots: async () => orders,
    node: (_: unknown, { id }: { id: string }) => orders.find((order) => order.id === id) ?? { id },
    found: () => [...orders, { id: "3" }],
    audit: () => "audited",
  },
  Mutation: { ship: (_: unknown, { id }: { id: string }) => orders.find((order) => order.id === id) },
};

function fromSdl(): GraphQLSchema {
  return makeExecutableSchema({ typeDefs: SDL, resolvers });
}

function fromPothos(): GraphQLSchema {
  const builder = new SchemaBuilder<{
    Objects: { Order: Order; Note: { id: string } };
    Interfaces: { Node: { id: string } };
  }>({});
  builder.interfaceType("Node", { fields: (t) => ({ id: t.exposeID("id") }), resolveType: typeName });
  builder.objectType("Order", {
    interfaces: ["Node"],
    fields: (t) => ({
      buyer: t.exposeString("buyer", { nullable: true }),
      secret: t.string({ nullable: true, resolve: ({ id }) => `secret ${id}` }),
    }),
  });
  builder.objectType("Note", { interfaces: ["Node"] });
  const Found = builder.unionType("Found", { types: ["Order", "Note"], resolveType: typeName as never });
  const idArg = { id: true };
  builder.queryType({
    fields: (t) => ({
      order: t.field({
        type: "Order",
        nullable: true,
        args: { id: t.arg.id({ required: idArg.id }) },
        resolve: (_, { id }) => orders.find((order) => order.id === id),
      }),
      orders: t.field({ type: ["Order"], resolve: () => [...orders] }),
      slots: t.field({ type: ["Order"], nullable: { list: false, items: true }, resolve: () => [...orders] }),
      node: t.field({
        type: "Node",
        nullable: true,
        args: { id: t.arg.id({ required: idArg.id }) },
        resolve: (_, { id }) => orders.find((order) => order.id === id) ?? { id: String(id) },
      }),
      found: t.field({ type: [Found], resolve: () => [...orders, { id: "3" }] as never }),
      audit: t.string({ nullable: true, resolve: () => "audited" }),
    }),
  });
  builder.mutationType({
    fields: (t) => ({
      ship: t.field({
        type: "Order",
        args: { id: t.arg.id({ required: idArg.id }) },
        resolve: (_, { id }) => orders.find((order) => order.id === id) as Order,
      }),
    }),
  });
  return builder.toSchema();
}

const open: PorticoApp[] = [];
afterEach(() => Promise.all(open.splice(0).map((app) => app.close())));

function serve(schema: GraphQLSchema, options: GraphOptions = {}) {
  const app = new PorticoApp({ logger: false });
  new Graph(schema, options).mount(app);
  open.push(app);
  return async (query: string, identity?: string, variables: object = {}) => {
    const client = testClient(app);
    const caller = identity === undefined ? client : client.as(new SimpleUser(identity, []));
    const { data, errors } = (await caller.post("/graphql", { body: { query, variables } })).json() as {
      data: Record<string, unknown> | null;
      errors?: readonly { extensions: { code: string } }[];
    };
    return { data, codes: errors?.map(({ extensions }) => extensions.code) ?? [] };
  };
}

// The other libraries bring the graphql that is installed beside them: the tests of the other major cannot use them.
const isOther = process.env["PORTICO_GRAPHQL"] === "17";

describe.skipIf(isOther).each([
  ["SDL", fromSdl],
  ["Pothos", fromPothos],
])("rules on a schema from %s", (_name, build) => {
  it("guard a field before its resolver", async () => {
    const ask = serve(build(), { rules: { "Query.audit": useAuth({ permissions: ["audit"] }) } });

    expect(await ask("{ audit }")).toEqual({ data: { audit: null }, codes: ["UNAUTHENTICATED"] });
    expect(await ask("{ audit }", "ann")).toEqual({ data: { audit: null }, codes: ["FORBIDDEN"] });
  });

  it("guard the objects of a type wherever they appear", async () => {
    const ask = serve(build(), { rules: { Order: ownOrders } });

    const { data, codes } = await ask(
      `{ mine: order(id: 1) { id } other: order(id: 2) { id } orders { id } slots { id }
         node(id: 2) { id } note: node(id: 3) { id } found { __typename } }`,
      "ann",
    );

    expect(codes).toEqual([]);
    expect(data).toEqual({
      mine: { id: "1" },
      other: null,
      orders: [{ id: "1" }],
      slots: [{ id: "1" }, null],
      node: null,
      note: { id: "3" },
      found: [{ __typename: "Order" }, { __typename: "Note" }],
    });
  });

  it("fail a mutation whose result is refused", async () => {
    const ask = serve(build(), { rules: { Order: ownOrders } });

    expect(await ask("mutation { ship(id: 1) { id } }", "ann")).toEqual({ data: { ship: { id: "1" } }, codes: [] });
    expect((await ask("mutation { ship(id: 2) { id } }", "ann")).codes).toEqual(["NOT_FOUND"]);
  });

  it("guard fields with the parent, and those of an interface on every type", async () => {
    const ask = serve(build(), { rules: { "Order.secret": ownOrders, Node: useAuth() } });

    expect(await ask("{ orders { secret } }", "ann")).toEqual({
      data: { orders: [{ secret: "secret 1" }, { secret: null }] },
      codes: ["FORBIDDEN"],
    });
    expect(await ask("{ orders { id } note: node(id: 3) { id } }")).toEqual({
      data: { orders: [], note: null },
      codes: [],
    });
  });

  it("do not change the schema: two endpoints over it have their own rules", async () => {
    const schema = build();
    const closed = serve(schema, { rules: { Order: ownOrders, "Query.audit": true } });
    const bare = serve(schema);

    expect((await bare("{ orders { id } audit }")).data).toEqual({
      orders: [{ id: "1" }, { id: "2" }],
      audit: "audited",
    });
    expect((await closed("{ orders { id } audit }")).data).toEqual({ orders: [], audit: null });
  });

  it.each([
    [
      "Query.adit",
      'Graph.rules["Query.adit"] names no object type, interface or field of the schema. Did you mean "Query.audit"?',
    ],
    ["Found", 'Graph.rules["Found"] names no object type, interface or field of the schema'],
    ["Query", 'Graph.rules["Query"] is a root type: name its fields, or set Graph.auth'],
  ])("stop startup for the coordinate %s", (coordinate, sentence) => {
    expect(() => new Graph(build(), { rules: { [coordinate]: true } })).toThrow(sentence);
  });

  it("stop startup for a value that is not a gate, and for a rule without an object", () => {
    expect(() => new Graph(build(), { rules: { "Query.audit": "yes" as never } })).toThrow(
      'Graph.rules["Query.audit"] must be true, false, a function of the user',
    );
    expect(() => new Graph(build(), { rules: { "Query.audit": ownOrders } })).toThrow(ConfigurationError);
  });
});

describe.skipIf(isOther)("an existing schema", () => {
  it("cannot have a gate where a refusal would have no place", () => {
    const typeDefs = "type Order { id: ID! } type Query { all: [Order!]! last: Order! count: Int! }";
    const graph = (rules: GraphRules) => new Graph(makeExecutableSchema({ typeDefs }), { rules });

    expect(() => graph({ "Query.count": true })).toThrow(
      'Graph.rules["Query.count"] cannot guard a field of the type Int!: a refused caller receives null, so make the field nullable',
    );
    expect(() => graph({ Order: true })).toThrow(
      "Graph.rules guards Order, but Query.last is Order!: a refused object becomes null, so make the field nullable",
    );
  });

  it("obeys rules in the entities of a subgraph", async () => {
    const typeDefs = parse(`
      extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key"])
      type Order @key(fields: "id") { id: ID! buyer: String }
      type Query { audit: String }
    `);
    const Order = { __resolveReference: ({ id }: Order) => orders.find((order) => order.id === id) };
    const schema = buildSubgraphSchema([{ typeDefs, resolvers: { Order } as never }]);
    const ask = serve(schema, { rules: { Order: ownOrders } });
    const of = orders.map(({ id }) => ({ __typename: "Order", id }));

    const query = "query ($of: [_Any!]!) { _entities(representations: $of) { ... on Order { id } } }";
    expect(await ask(query, "ann", { of })).toEqual({ data: { _entities: [{ id: "1" }, null] }, codes: [] });
  });

  it("receives the context value that its resolvers expect, built once for each operation", async () => {
    let built = 0;
    const schema = makeExecutableSchema<{ readonly db: string; readonly caller: string | null }>({
      typeDefs:
        "interface Named { name: String } type A implements Named { name: String } type Query { named: Named who: String db: String }",
      resolvers: {
        Named: { __resolveType: (_value: unknown, { db }: { db: string }) => (db === "shop" ? "A" : "B") },
        Query: {
          named: () => ({ name: (_args: unknown, { db }: { db: string }) => `named by ${db}` }),
          who: (_parent, _args, { caller }) => caller,
          db: (_parent, _args, { db }) => db,
        },
      },
    });
    const ask = serve(schema, {
      context: async (ctx) => {
        built++;
        return { db: "shop", caller: ctx.user.isAuthenticated ? ctx.user.identity : null };
      },
    });

    const { data, codes } = await ask("{ who db named { name } }", "ann");

    expect({ data, codes, built }).toEqual({
      data: { who: "ann", db: "shop", named: { name: "named by shop" } },
      codes: [],
      built: 1,
    });
  });

  it("keeps its rules with a context value of its own", async () => {
    const ask = serve(fromSdl(), { rules: { Order: ownOrders }, context: () => ({ db: "shop" }) });

    expect((await ask("{ orders { id } node(id: 2) { id } found { __typename } }", "bob")).data).toEqual({
      orders: [{ id: "2" }],
      node: { id: "2" },
      found: [{ __typename: "Order" }, { __typename: "Note" }],
    });
  });

  it("gives resolvers their dependencies, one value for each operation", async () => {
    let opened = 0;
    const service = Depend(async function* service() {
      opened++;
      yield { greet: (name: string) => `hello ${name}` };
    });
    const greet = inject({ service }, (_parent: unknown, { name }: { name: string }, { service, ctx }) =>
      service.greet(`${name} by ${ctx.user.isAuthenticated ? ctx.user.identity : "no one"}`),
    );
    const schema = makeExecutableSchema({
      typeDefs: "type Query { greet(name: String!): String }",
      resolvers: { Query: { greet } },
    });
    const query = '{ a: greet(name: "a") b: greet(name: "b") }';

    for (const options of [{}, { context: () => ({}) }]) {
      expect((await serve(schema, options)(query, "ann")).data).toEqual({ a: "hello a by ann", b: "hello b by ann" });
    }
    expect(opened).toBe(2);
    expect(() =>
      greet(null, { name: "x" }, {}, { parentType: { name: "Query" }, fieldName: "greet" } as never),
    ).toThrow("Query.greet: has dependencies, so a Graph must execute it");
  });

  it("keeps refused objects out of the events of a subscription", async () => {
    const schema = makeExecutableSchema({
      typeDefs: `${SDL} type Subscription { added: Order! told: String }`,
      resolvers: {
        ...resolvers,
        Subscription: {
          added: {
            subscribe: async function* () {
              for (const added of orders) yield { added };
            },
          },
          told: {
            subscribe: async function* () {
              yield { told: "news" };
            },
          },
        },
      },
    });
    const app = new PorticoApp({ logger: false });
    new Graph(schema, { rules: { Order: ownOrders, "Subscription.told": true } }).mount(app);
    open.push(app);
    const stream = async (query: string, identity: string | null) => {
      const client = testClient(app);
      const caller = identity === null ? client : client.as(new SimpleUser(identity, []));
      return (await caller.post("/graphql", { body: { query }, headers: { accept: "text/event-stream" } })).text();
    };

    const seen = await stream("subscription { added { id } }", "bob");
    expect(seen).toContain('{"data":{"added":{"id":"2"}}');
    expect(seen).not.toContain('"id":"1"');
    expect(await stream("subscription { told }", null)).toContain("UNAUTHENTICATED");
    expect(await stream("subscription { told }", "ann")).toContain("news");
  });
});

it("rejects rules and a context value for the fields of schema()", async () => {
  const { field, schema, t } = await import("portico/graphql");
  const own = schema({ query: { a: field(t.string)(() => "a") } });

  expect(() => new Graph(own, { rules: { "Query.a": true } })).toThrow(
    "Graph.rules is for schemas that schema() did not build: set auth on the field or the type",
  );
  expect(() => new Graph(own, { context: () => ({}) })).toThrow(
    "Graph.context is for schemas that schema() did not build",
  );
});
