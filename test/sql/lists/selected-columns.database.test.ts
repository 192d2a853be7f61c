import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { defaultFieldResolver, type GraphQLField, type GraphQLObjectType, GraphQLSchema } from "graphql";
import { rule } from "portico";
import type { TestClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Engine, engineNames, openEngine } from "../../../lab/servers/engines.ts";
import { type BookRow, fillShop, serveShop } from "./selected-shop.ts";

const FRAGMENTS = [
  "fragment Priced on Book { price label ... @include(if: $yes) { cost } }",
  "fragment Shelved on Titled { shelf title @skip(if: $no) secret @skip(if: $yes) }",
];
const VARIABLES = { yes: true, no: false };

const condition = fc.constantFrom(
  "",
  "",
  "",
  "@skip(if: $no)",
  "@skip(if: $yes)",
  "@include(if: $yes)",
  "@include(if: $no)",
  "@skip(if: true)",
);
const leaf = (...names: string[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...names), fc.boolean(), condition)
    .map(([name, isAliased, when]) => `${isAliased ? `${name}_: ` : ""}${name} ${when}`);
const list = (name: string, items: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(fc.boolean(), condition, pages(items))
    .map(([isAliased, when, set]) => `${isAliased ? `${name}_: ${name}(first: 2)` : name} ${when} ${set}`);
const setOf = (...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.array(fc.oneof(...parts), { minLength: 1, maxLength: 3 }).map((all) => `{ ${all.join(" ")} }`);
const pages = (items: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  setOf(
    items.map((item) => `nodes ${item}`),
    items.map((item) => `edges { cursor node ${item} }`),
    fc.constantFrom("totalCount", "pageInfo { hasNextPage endCursor }", "__typename"),
  );
const bookLeaves = leaf(
  "__typename",
  "id",
  "key",
  "title",
  "shelf",
  "secret",
  "price",
  "cost",
  "genre",
  "label",
  "seven",
  "guarded",
);
/** The selections of a book or an author, with lists in lists to this depth. */
const bookSet = (depth: number): fc.Arbitrary<string> =>
  setOf(
    bookLeaves,
    leaf("title", "price", "all"),
    fc.constantFrom("...Priced", "...Shelved", "... on Titled { title shelf }"),
    fc.tuple(condition, setOf(bookLeaves)).map(([when, inner]) => `... ${when} ${inner}`),
    ...(depth === 0
      ? []
      : [
          authorSet(depth - 1).map((inner) => `author ${inner}`),
          list("siblings", bookSet(depth - 1)),
          list("alone", bookSet(0)),
        ]),
  );
const authorSet = (depth: number): fc.Arbitrary<string> =>
  setOf(leaf("id", "name", "shout", "__typename"), ...(depth === 0 ? [] : [list("books", bookSet(depth - 1))]));

describe.each(engineNames)("columns: selected on %s", (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(name, `portico_selected_${randomUUID().slice(0, 8)}`);
    await fillShop(engine);
  });
  afterAll(() => engine?.close());

  const ask = async (client: TestClient, query: string, variables: object = {}): Promise<unknown> => {
    const result = (await client.post("/graphql", { body: { query, variables } })).json() as Result;
    expect(result.data, JSON.stringify(result.errors)).toBeDefined();
    // Denials come in the order in which the statements end.
    const denied = (result.errors ?? []).map(({ message, path }) => `${path?.join(".")}: ${message}`);
    return { data: result.data, denied: denied.toSorted() };
  };
  /** The columns that each statement selects from a table, without those of the keys. */
  const columnsRead = (table: string): readonly string[] =>
    engine.statements
      .map(({ sql }) => sql)
      .filter((sql) => /["`]~[ks]a["`]/.test(sql) && new RegExp(`from ["\`]${table}["\`]`).test(sql))
      .map((sql) => {
        const [, list = ""] = new RegExp(`.*select ((?:(?!select).)*?) from ["\`]${table}["\`]`).exec(sql) ?? [];
        const [columns = ""] = list.split(/, (?=\? as|0 as|cast\(|case |["`]\w+["`]\.["`]\w+["`](?:::text)? as)/);
        return columns.replaceAll(/["`]|["`]?(?:books|authors)["`]?\.|(?<=,) /g, "");
      });
  /** The statements of an operation, after those that read the catalogue. */
  const sent = async (client: TestClient, query: string, variables: object = {}): Promise<void> => {
    engine.statements.length = 0;
    await ask(client, query, variables);
  };

  it.each(["portico", "graphql-js"] as const)("returns the same as with all columns, by %s", async (executor) => {
    const on = serveShop(engine.database, "selected", { executor });
    const off = serveShop(engine.database, undefined, { executor });
    const selection = fc.oneof(list("books", bookSet(1)), list("authors", authorSet(2)));
    await fc.assert(
      fc.asyncProperty(selection, async (fields) => {
        const fragments = FRAGMENTS.filter((fragment) => fields.includes(`...${fragment.split(" ")[1]}`));
        const query = `query ($yes: Boolean!, $no: Boolean = true) {
          __typename @include(if: $yes) @skip(if: $no) ${fields}
        } ${fragments.join(" ")}`;
        expect(await ask(on, query, VARIABLES)).toEqual(await ask(off, query, VARIABLES));
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });

  it.each([
    ["the selected fields and the rule of the type", "{ books { nodes { title } } }", ["title,genre"]],
    [
      "the fields in edges and nodes together",
      "{ books { nodes { title } edges { node { price } } } }",
      ["title,genre,price_cents"],
    ],
    ["nothing but the rule's, without items", "{ books { pageInfo { endCursor } } }", ["genre"]],
    ["nothing but the rule's for __typename", "{ books { nodes { __typename seven } } }", ["genre"]],
    ["declared columns", "{ books { nodes { label } } }", ["title,genre,price_cents"]],
    ["those of a rule on a field", "{ books { nodes { cost } } }", ["genre,cost_cents,seller_id"]],
    ["those of a global id", "{ books { nodes { id } } }", ["id,genre"]],
    [
      "those of an interface and its gate",
      "{ books { nodes { ... on Titled { shelf secret } } } }",
      ["genre,seller_id,notes"],
    ],
    [
      "the reference of a nested list",
      "{ books { nodes { siblings { nodes { price } } } } }",
      ["author_id,genre", "genre,price_cents"],
    ],
    [
      "those of each selection under an alias",
      "{ books { nodes { title } } more: books { nodes { price } } }",
      ["title,genre", "genre,price_cents"],
    ],
    ["all columns for an undeclared resolver", "{ books { nodes { title all } } }", ["*"]],
    ["all columns for an undeclared gate", "{ books(first: 1) { nodes { title guarded } } }", ["*"]],
  ])("reads %s", async (_what, query, expected) => {
    await sent(serveShop(engine.database, "selected"), query);
    expect(columnsRead("books").toSorted()).toEqual(expected.toSorted());
  });

  it("rejects a resolver that reads a column which its field does not declare", async () => {
    const result = await ask(serveShop(engine.database, "selected"), "{ books(first: 1) { nodes { forgotten } } }");
    expect(result).toMatchObject({
      data: { books: { nodes: [{ forgotten: null }] } },
      denied: [expect.stringContaining("books.nodes.0.forgotten: the column notes was not read")],
    });
  });

  it("counts the rows once for two selections of the same lists", async () => {
    const counted = "nodes { books { totalCount nodes { title } } more: books { totalCount nodes { price } } }";
    await sent(serveShop(engine.database, "selected"), `{ authors { ${counted} } }`);
    expect(columnsRead("books").toSorted()).toEqual(["genre,price_cents", "title,genre"]);
    expect(engine.statements.filter(({ sql }) => sql.includes("count(*)"))).toHaveLength(1);
  });

  it("knows the columns of resolvers that Portico times", async () => {
    const hooks = [{ traces: true, onOperation: () => {} }];
    await sent(serveShop(engine.database, "selected", { hooks }), "{ books { nodes { title label } } }");
    expect(columnsRead("books")).toEqual(["title,genre,price_cents"]);
  });

  it("reads all columns if a tool has replaced the resolver of a selected field or of the list", async () => {
    for (const [type, field] of [
      ["Book", "title"],
      ["BookConnection", "nodes"],
    ] as const) {
      const client = serveShop(engine.database, "selected", {}, (built) => {
        const replaced = (built.getType(type) as GraphQLObjectType).getFields()[field] as GraphQLField<
          unknown,
          unknown
        >;
        const { resolve = defaultFieldResolver } = replaced;
        replaced.resolve = (...call) => resolve(...call);
        return built;
      });
      await sent(client, "{ books { nodes { title } } }");
      expect(columnsRead("books"), `${type}.${field}`).toEqual(["*"]);
      await sent(client, "{ books { edges { node { price } } } }");
      expect(columnsRead("books")).toEqual(["genre,price_cents"]);
    }
  });

  it("reads the columns of rules that an endpoint adds to a copied schema", async () => {
    const noted = rule<BookRow>({ name: "noted", reads: ["notes"], allows: (_user, { notes }) => notes !== null });
    const priced = rule<BookRow>({ name: "priced", allows: (_user, { cost_cents }) => cost_cents !== null });
    const copied = (built: GraphQLSchema): GraphQLSchema => new GraphQLSchema(built.toConfig());
    const client = serveShop(engine.database, "selected", { rules: { Book: noted, "Book.cost": priced } }, copied);
    await sent(client, "{ books { nodes { title } } }");
    expect(columnsRead("books")).toEqual(["title,genre,notes"]);
    await sent(client, "{ books { nodes { cost } } }");
    expect(columnsRead("books")).toEqual(["*"]);
  });

  it("decides about @skip and @include before it reads", async () => {
    const client = serveShop(engine.database, "selected");
    const query = "query ($yes: Boolean!) { books { nodes { title @include(if: $yes) price @skip(if: $yes) } } }";
    for (const [yes, columns] of [
      [true, "title,genre"],
      [false, "genre,price_cents"],
    ] as const) {
      await sent(client, query, { yes });
      expect(columnsRead("books")).toEqual([columns]);
    }
  });
});

interface Result {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string; readonly path?: readonly (string | number)[] }[];
}
