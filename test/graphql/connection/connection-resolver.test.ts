import { makeExecutableSchema } from "@graphql-tools/schema";
import { GraphQLScalarType } from "graphql";
import { isEqual, PorticoApp, rule } from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import { connectionResolver, Graph, type GraphOptions } from "portico/graphql";
import { CursorPagination, PageNumberPagination } from "portico/pagination";
import { logCatcher, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";

interface Order {
  readonly id: string;
  readonly buyer: string;
  readonly cost: number;
}
const orders: readonly Order[] = Array.from({ length: 9 }, (_, at) => ({
  id: String(at + 1),
  buyer: at % 3 === 0 ? "bob" : "ann",
  cost: 100 - at,
}));
const ownOrders = rule<Order>({
  name: "order.own",
  allows: (user, order) => order.buyer === user.identity,
  where: (user) => isEqual("buyer", user.identity),
});

const typeDefs = `
  type Order { id: ID! buyer: String! cost: Int }
  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  type OrderEdge { cursor: String! node: Order }
  type OrderConnection { nodes: [Order!]! edges: [OrderEdge!]! pageInfo: PageInfo! totalCount: Int }
  enum OrderSort { COST_ASC COST_DESC NAME_ASC }
  input IntFilter { lt: Int }
  input OrderFilter { cost: IntFilter }
  type Query {
    orders(first: Int, after: String, last: Int, before: String, sort: [OrderSort!], filter: OrderFilter): OrderConnection
    ordersOf(buyer: String!, first: Int, after: String): OrderConnection
  }
`;
const BAND = typeDefs.replace("cost: Int }", "cost: Band } scalar Band");
const strategy = new CursorPagination({
  sortField: "id",
  sortable: ["cost"],
  filterable: { cost: { type: "integer", by: ["range"] } },
});

function serve(options: GraphOptions = {}) {
  const schema = makeExecutableSchema<{ readonly rows: readonly Order[] }>({
    typeDefs,
    resolvers: {
      Query: {
        orders: connectionResolver(
          strategy,
          (_parent: unknown, _args: object, { rows }: { rows: readonly Order[] }) => rows,
        ),
        ordersOf: connectionResolver(
          strategy,
          (_parent: unknown, { buyer }: { buyer: string }, { rows }: { rows: readonly Order[] }) =>
            rows.filter((row) => row.buyer === buyer),
          { cursorScope: ({ args: { buyer } }) => ({ buyer }) },
        ),
      },
    },
  });
  const app = new PorticoApp({ logger: false });
  new Graph(schema, { context: () => ({ rows: orders }), ...options }).mount(app);
  return async (query: string, identity = "ann", permissions: readonly string[] = []) => {
    const client = testClient(app).as(new SimpleUser(identity, permissions));
    const { data, errors } = (await client.post("/graphql", { body: { query } })).json() as {
      data: any;
      errors?: readonly { message: string; extensions: { code: string } }[];
    };
    return { data, codes: errors?.map(({ extensions }) => extensions.code) ?? [] };
  };
}

// graphql-tools brings the graphql that is installed beside it.
describe.skipIf(process.env["PORTICO_GRAPHQL"] === "17")("connectionResolver", () => {
  it("pages through a list in both directions, with sort, filter and total", async () => {
    const ask = serve();

    const { data } = await ask(
      "{ orders(first: 4) { nodes { id } edges { cursor } pageInfo { hasNextPage endCursor } totalCount } }",
    );
    expect(data.orders.nodes.map(({ id }: Order) => id)).toEqual(["1", "2", "3", "4"]);
    expect(data.orders.totalCount).toBe(9);
    expect(data.orders.edges[3].cursor).toBe(data.orders.pageInfo.endCursor);
    const after = await ask(
      `{ orders(first: 9, after: "${data.orders.pageInfo.endCursor}") { nodes { id } pageInfo { hasNextPage } } }`,
    );
    expect(after.data.orders).toEqual({
      nodes: ["5", "6", "7", "8", "9"].map((id) => ({ id })),
      pageInfo: { hasNextPage: false },
    });
    const chosen = await ask(
      "{ orders(last: 1, sort: [COST_ASC], filter: { cost: { lt: 95 } }) { nodes { cost } totalCount } }",
    );
    expect(chosen.data.orders).toEqual({ nodes: [{ cost: 94 }], totalCount: 3 });
  });

  it("restricts pages and totals by the rule of the item type", async () => {
    const ask = serve({ rules: { Order: ownOrders } });
    const query = "{ orders(first: 2) { nodes { id } edges { node { id } } pageInfo { hasNextPage } totalCount } }";

    expect((await ask(query, "bob")).data.orders).toEqual({
      nodes: [{ id: "1" }, { id: "4" }],
      edges: [{ node: { id: "1" } }, { node: { id: "4" } }],
      pageInfo: { hasNextPage: true },
      totalCount: 3,
    });
    expect((await ask(query, "eve")).data.orders).toMatchObject({ nodes: [], totalCount: 0 });
  });

  it("asks the gate of a field before a client sorts or filters by it", async () => {
    const ask = serve({ rules: { "Order.cost": useAuth({ permissions: ["read:costs"] }) } });

    for (const args of ["sort: [COST_DESC]", "filter: { cost: { lt: 95 } }"]) {
      expect(await ask(`{ orders(${args}) { totalCount } }`)).toEqual({ data: { orders: null }, codes: ["FORBIDDEN"] });
      expect((await ask(`{ orders(${args}) { totalCount } }`, "ann", ["read:costs"])).codes).toEqual([]);
    }
  });

  describe("with a column that no field returns as it is", () => {
    const hidden = "no field of Order returns cost unchanged";
    const build = (resolvers: object, wrap: (resolve: any) => any = (resolve) => resolve, defs = typeDefs) =>
      makeExecutableSchema({
        typeDefs: defs,
        resolvers: { Query: { orders: wrap(connectionResolver(strategy, () => orders)) }, ...resolvers },
      });

    it.each([
      ["a resolver", { Order: { cost: () => 0 } }, typeDefs],
      ["another name", {}, typeDefs.replace("cost: Int }", "price: Int }")],
      ["a scalar that hides a part", { Band: new GraphQLScalarType({ name: "Band", serialize: () => "high" }) }, BAND],
    ])("stops startup: %s", (_what, resolvers, defs) => {
      const schema = build(resolvers, undefined, defs);

      expect(() => new Graph(schema)).toThrow(`Query.orders is sortable by cost, but ${hidden}`);
      // Gates say nothing about what a field returns.
      expect(() => new Graph(schema, { rules: { "Query.orders": true } })).toThrow(hidden);
    });

    it.each([
      ["a scalar without serialize", {}],
      ["a scalar of String", { Band: new GraphQLScalarType({ name: "Band", serialize: String }) }],
    ])("accepts %s", (_what, resolvers) => {
      expect(() => new Graph(build(resolvers, undefined, BAND))).not.toThrow();
      expect(() => new Graph(build(resolvers, undefined, BAND), { context: () => ({}) })).not.toThrow();
    });

    it("fails in every request if another tool wraps the connection", async () => {
      const log = logCatcher();
      const app = new PorticoApp({ logger: log });
      const wrapped = build(
        { Order: { cost: () => 0 } },
        (resolve) =>
          (...args: unknown[]) =>
            resolve(...args),
      );
      new Graph(wrapped).mount(app);

      for (const args of ["", "(sort: [COST_DESC])"])
        expect(await testClient(app).graphql(`{ orders${args} { totalCount } }`)).toMatchObject({
          data: { orders: null },
          errors: [{ extensions: { code: "INTERNAL_SERVER_ERROR" } }],
        });
      expect(log.text).toContain(hidden);
    });

    it("may be public, which does not open the gate of the field", async () => {
      const open = new CursorPagination({ sortable: [{ column: "cost", public: true }] });
      const schema = makeExecutableSchema({
        typeDefs,
        resolvers: { Query: { orders: connectionResolver(open, () => orders) }, Order: { cost: () => 0 } },
      });
      const asked = async (options: GraphOptions): Promise<unknown> => {
        const app = new PorticoApp({ logger: false });
        new Graph(schema, options).mount(app);
        return (await testClient(app).graphql("{ orders(sort: [COST_ASC]) { nodes { id } } }")).errors?.[0]?.extensions;
      };

      expect(await asked({})).toBeUndefined();
      expect(await asked({ rules: { "Order.cost": true } })).toMatchObject({ code: "UNAUTHENTICATED" });
    });
  });

  it("binds cursors to the cursorScope, and rejects invalid arguments", async () => {
    const ask = serve();
    const { data } = await ask('{ ordersOf(buyer: "ann", first: 1) { pageInfo { endCursor } } }');
    const { endCursor } = data.ordersOf.pageInfo;

    expect((await ask(`{ ordersOf(buyer: "ann", after: "${endCursor}") { nodes { id } } }`)).codes).toEqual([]);
    expect((await ask(`{ ordersOf(buyer: "bob", after: "${endCursor}") { nodes { id } } }`)).codes).toEqual([
      "BAD_USER_INPUT",
    ]);
    expect((await ask("{ orders(first: -1) { nodes { id } } }")).codes).toEqual(["BAD_USER_INPUT"]);
    expect((await ask("{ orders(sort: [NAME_ASC]) { nodes { id } } }")).codes).toEqual(["INTERNAL_SERVER_ERROR"]);
  });

  it("requires a cursor strategy and a Graph", () => {
    expect(() => connectionResolver(new PageNumberPagination() as never, () => orders)).toThrow(
      "connectionResolver: the strategy must be a CursorPagination",
    );
    const info = { parentType: { name: "Query" }, fieldName: "orders" } as never;
    expect(() => connectionResolver(strategy, () => orders)(null, {}, {}, info)).toThrow(
      "Query.orders: is a connection, so a Graph must execute it",
    );
  });
});
