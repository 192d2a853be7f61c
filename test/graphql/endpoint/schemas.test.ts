import { buildSubgraphSchema } from "@apollo/subgraph";
import SchemaBuilder from "@pothos/core";
import { buildSchema, type GraphQLFieldResolver, type GraphQLObjectType, type GraphQLSchema, parse } from "graphql";
import type { GraphContext } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { bodyOf, codesOf, openSchema, verdictOf } from "./open.ts";

interface Book {
  readonly id: string;
  readonly title: string;
}
const shelf: readonly Book[] = [{ id: "1", title: "Middlemarch" }];

function fromPothos(): GraphQLSchema {
  const builder = new SchemaBuilder<{ Context: GraphContext; Objects: { Book: Book } }>({});
  builder.objectType("Book", { fields: (t) => ({ id: t.exposeID("id"), title: t.exposeString("title") }) });
  builder.queryType({
    fields: (t) => ({
      books: t.field({
        type: ["Book"],
        args: { first: t.arg.int() },
        extensions: { listSize: { argument: "first", max: 50 } },
        resolve: () => [...shelf],
      }),
      operation: t.string({ nullable: true, resolve: (_root, _args, context) => context.operationName }),
      dear: t.int({ extensions: { cost: 9 }, resolve: () => 9 }),
    }),
  });
  return builder.toSchema();
}

const SDL =
  "type Book { id: ID! title: String! } type Query { books(first: Int): [Book!]! operation: String dear: Int! }";
const resolvers: Readonly<Record<string, GraphQLFieldResolver<unknown, GraphContext>>> = {
  books: () => shelf,
  operation: (_root, _args, context) => context.operationName,
  dear: () => 9,
};

function fromSdl(): GraphQLSchema {
  return withPrices(buildSchema(SDL), resolvers);
}

function fromSubgraph(): GraphQLSchema {
  const typeDefs = parse(`
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key"])
    ${SDL.replace("type Book {", 'type Book @key(fields: "id") {')}
  `);
  const Book = { __resolveReference: ({ id }: Pick<Book, "id">) => shelf.find((book) => book.id === id) };
  return withPrices(buildSubgraphSchema([{ typeDefs, resolvers: { Query: resolvers, Book } as never }]), {});
}

/** Attaches resolvers to a schema that has none, and what its fields cost. */
function withPrices(schema: GraphQLSchema, given: typeof resolvers): GraphQLSchema {
  const fields = (schema.getQueryType() as GraphQLObjectType).getFields();
  for (const [name, resolve] of Object.entries(given)) Object.assign(fields[name] as object, { resolve });
  Object.assign(fields["books"] as object, { extensions: { listSize: { argument: "first", max: 50 } } });
  Object.assign(fields["dear"] as object, { extensions: { cost: 9 } });
  return schema;
}

// The other libraries bring the graphql that is installed beside them: the tests of the other major cannot use them.
const isOther = process.env["PORTICO_GRAPHQL"] === "17";

describe.skipIf(isOther).each([
  ["Pothos", fromPothos],
  ["SDL", fromSdl],
  ["an Apollo subgraph", fromSubgraph],
])("a schema from %s", (_name, build) => {
  it("[GRA-09] is served, with the operation's context in its resolvers", async () => {
    const { client } = await openSchema(build());

    const posted = await client.post("/graphql", { body: { query: "query Shelf { books { id title } operation }" } });
    const got = await client.get("/graphql", { query: { query: "{ operation }" } });

    expect([posted.status, bodyOf(posted).data]).toEqual([200, { books: shelf, operation: "Shelf" }]);
    expect(bodyOf(got).data).toEqual({ operation: null });
  });

  it("[GRA-09] is subject to the limits, with the costs in its extensions", async () => {
    const { client } = await openSchema(build(), { limits: { cost: 40 }, introspection: false });
    const books = "query ($n: Int) { books(first: $n) { title } }";

    const dear = await client.post("/graphql", { body: { query: "{ dear }" } });
    const few = await client.post("/graphql", { body: { query: books, variables: { n: 5 } } });
    const many = await client.post("/graphql", { body: { query: books, variables: { n: 500 } } });
    const told = await client.post("/graphql", { body: { query: "{ __schema { types { name } } }" } });

    expect([dear, few].map((answer) => bodyOf(answer).extensions?.cost?.["cost"])).toEqual([9, 6]);
    expect([verdictOf(many), verdictOf(told)]).toEqual([
      [400, "COST_LIMIT_EXCEEDED"],
      [403, "INTROSPECTION_DISABLED"],
    ]);
  });

  it("[GRA-09] is reported to the hooks", async () => {
    const { client, graph } = await openSchema(build());
    const names: unknown[] = [];
    graph.onOperation(({ ok }, { operationName, cost }) => void names.push([operationName, cost, ok]));

    await client.post("/graphql", { body: { query: "query Dear { dear }" } });

    expect(names).toEqual([["Dear", 9, true]]);
  });
});

it.skipIf(isOther)("serves the queries that a gateway sends to a subgraph", async () => {
  const { client } = await openSchema(fromSubgraph());
  const query = "query ($of: [_Any!]!) { _entities(representations: $of) { ... on Book { title } } }";

  const service = await client.post("/graphql", { body: { query: "{ _service { sdl } }" } });
  const entities = await client.post("/graphql", {
    body: { query, variables: { of: [{ __typename: "Book", id: "1" }] } },
  });

  expect(service.text()).toContain("@key");
  expect([codesOf(entities), bodyOf(entities).data]).toEqual([[], { _entities: [{ title: "Middlemarch" }] }]);
});
