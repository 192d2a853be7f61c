import { type GraphQLSchema, graphql, printSchema } from "graphql";
import { ConfigurationError, PorticoApp, rule, some } from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import {
  connection,
  type FormattedError,
  field,
  Graph,
  type InterfaceType,
  type ObjectType,
  object,
  schema,
  t,
} from "portico/graphql";
import { type CursorMetadata, CursorPagination, SyncDataHandler, SyncListDataHandler } from "portico/pagination";
import { testClient } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { bodyOf, ids, range, SECRET } from "../../pagination/ways.ts";

interface Book {
  readonly id: number;
  readonly genre: string;
  readonly price_cents: number;
  readonly title: string | null;
  readonly cost_cents: number;
}
const rows: readonly Book[] = range(1, 12).map((id) => ({
  id,
  genre: id % 2 === 0 ? "novel" : "poetry",
  price_cents: id * 100,
  title: id % 3 === 0 ? null : `Book ${id}`,
  cost_cents: id * 10,
}));
const filterable = {
  genre: { type: ["novel", "poetry"], by: ["equal", "in"] },
  price: { column: "price_cents", type: "integer", by: ["range"] },
  title: { type: "text", by: ["prefix", "null"] },
} as const;
const filtered = new CursorPagination({ sortField: "id", filterable });
const BookType: ObjectType<Book> = object("Book", {
  id: t.int,
  genre: t.string,
  price_cents: field(t.int, { name: "priceCents" }),
  title: t.nullable(t.string),
});
const item = z.object({
  id: z.number(),
  genre: z.string(),
  price_cents: z.number(),
  title: z.string().nullable(),
});
const books = new SyncListDataHandler(rows, { name: "books" });

type Answer = {
  data: { books: { nodes: Book[]; totalCount: number; pageInfo: { endCursor: string } } | null };
  errors?: readonly FormattedError[];
};
function serve(built: GraphQLSchema) {
  const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
  app.get("/books", { paginated: { strategy: filtered, item } }, ({ response }) =>
    response.paginate(books, { strategy: filtered }),
  );
  new Graph(built).mount(app);
  onTestFinished(() => app.close());
  const client = testClient(app);
  const ask = async (args: string, variables: object = {}, declared = ""): Promise<Answer> => {
    const query = `query ${declared} { books${args} { nodes { id } totalCount pageInfo { endCursor } } }`;
    return (await client.post("/graphql", { body: { query, variables } })).json() as Answer;
  };
  return { client, ask, idsOf: async (args: string) => ids({ items: (await ask(args)).data.books?.nodes ?? [] }) };
}
const plain = () => schema({ query: { books: connection(BookType, filtered)(() => books) } });

describe("a connection over a filterable strategy", () => {
  it("has one input for the list, and shares those of its comparisons", () => {
    const other = new CursorPagination({ filterable: { id: { type: "integer", by: ["range"] } } });
    const printed = printSchema(
      schema({
        query: {
          books: connection(BookType, filtered)(() => books),
          again: connection(BookType, new CursorPagination({ filterable }))(() => books),
          others: connection(BookType, other, { inputPrefix: "Other" })(() => books),
          plain: connection(BookType, new CursorPagination())(() => books),
        },
      }),
    );

    expect(printed.match(/filter: BookFilter\n/g)).toHaveLength(2);
    expect(printed.match(/filter: OtherFilter\n/g)).toHaveLength(1);
    expect(printed).toContain(
      "input BookFilter {\n  genre: BookGenreFilter\n  price: IntegerRangeFilter\n  title: TextPrefixNullFilter\n}",
    );
    expect(printed).toContain("input BookGenreFilter {\n  equal: BookGenreValue\n  in: [BookGenreValue!]\n}");
    expect(printed).toContain("enum BookGenreValue {\n  novel\n  poetry\n}");
    expect(printed).toContain("input IntegerRangeFilter {\n  gt: Int\n  gte: Int\n  lt: Int\n  lte: Int\n}");
    expect(printed).toContain("input TextPrefixNullFilter {\n  startsWith: String\n  isNull: Boolean\n}");
    expect(printed).not.toContain("_cents");
  });

  it("uses the enum of the field with its name, and strings for words that are not names", () => {
    const Genre = t.enum("Genre", ["poetry", "novel"]);
    const Typed: ObjectType<{ id: number; genre: "poetry" | "novel"; size: string }> = object("Typed", {
      id: t.int,
      genre: t.nullable(Genre),
      size: t.string,
    });
    const strategy = new CursorPagination({
      filterable: {
        genre: { type: ["novel", "poetry"], by: ["equal"] },
        size: { type: ["10-20", "20-30"], by: ["in"] },
      },
    });

    const printed = printSchema(schema({ query: { typed: connection(Typed, strategy)(() => []) } }));

    expect(printed).toContain("input TypedGenreFilter {\n  equal: Genre\n}");
    expect(printed).toContain("input TypedSizeFilter {\n  in: [String!]\n}");
  });

  it("names the option if two lists of a type have other filters", () => {
    const other = new CursorPagination({ filterable: { id: { type: "id", by: ["in"] } } });
    const query = { one: connection(BookType, filtered)(() => books), two: connection(BookType, other)(() => books) };

    expect(() => schema({ query })).toThrow(
      "there are two types named BookFilter. Set inputPrefix on one of the connections",
    );
  });

  it.each([
    ["", range(1, 12)],
    ["(filter: null)", range(1, 12)],
    ["(filter: {})", range(1, 12)],
    ["(filter: { genre: {} })", range(1, 12)],
    ["(filter: { genre: { equal: novel } })", [2, 4, 6, 8, 10, 12]],
    ["(filter: { genre: { in: [poetry, novel] }, price: { gt: 300, lte: 600 } })", [4, 5, 6]],
    ['(filter: { title: { startsWith: "Book 1" } })', [1, 10, 11]],
    ["(filter: { title: { isNull: true }, price: { lt: 700 } })", [3, 6]],
    ["(filter: { title: { isNull: false }, price: { gte: 900 } })", [10, 11]],
  ])("books%s", async (args, expected) => {
    const { ask } = serve(plain());

    const { data, errors } = await ask(args.replace(/\)$/, ", first: 50)"));

    expect(errors).toBeUndefined();
    expect(ids({ items: data.books?.nodes ?? [] })).toEqual(expected);
    expect(data.books?.totalCount).toBe(expected.length);
  });

  it.each([
    ["(filter: { genre: { equal: gossip } })", "GRAPHQL_VALIDATION_FAILED", "gossip"],
    ["(filter: { costs: { gt: 1 } })", "GRAPHQL_VALIDATION_FAILED", "costs"],
    ["(filter: { genre: null })", "BAD_REQUEST", "BookFilter.genre may be omitted, but must not be null"],
    [
      "(filter: { genre: { equal: null } })",
      "BAD_REQUEST",
      "BookGenreFilter.equal may be omitted, but must not be null",
    ],
    ["(filter: { genre: { in: [] } })", "BAD_USER_INPUT", "filter.genre.in is empty"],
    ['(filter: { title: { startsWith: "" } })', "BAD_USER_INPUT", "filter.title.startsWith is empty"],
    [
      `(filter: { title: { startsWith: "${"x".repeat(201)}" } })`,
      "BAD_USER_INPUT",
      "filter.title.startsWith accepts at most 200",
    ],
    [
      `(filter: { genre: { in: [${"novel ".repeat(101)}] } })`,
      "BAD_USER_INPUT",
      "filter.genre.in accepts at most 100 values",
    ],
  ])("books%s is an error of the client", async (args, code, message) => {
    const { errors } = await serve(plain()).ask(args);

    expect(errors?.[0]).toMatchObject({ extensions: { code }, message: expect.stringContaining(message) });
  });

  it("shares its cursors with a route that has the same filters, and with no other", async () => {
    const { client, ask } = serve(plain());
    const { next_cursor } = bodyOf<CursorMetadata>(
      await client.get("/books?genre=novel&price.gte=400&page_size=2"),
    ).pagination;
    const same = `(filter: { price: { gte: 400 }, genre: { equal: novel } }, first: 2, after: "${next_cursor}")`;
    const other = `(filter: { price: { gte: 300 }, genre: { equal: novel } }, first: 2, after: "${next_cursor}")`;

    expect(ids({ items: (await ask(same)).data.books?.nodes ?? [] })).toEqual([8, 10]);
    expect((await ask(other)).errors).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
  });

  it("reserves the name filter, which stays free with another strategy", () => {
    const params = { filter: t.string };

    expect(() => connection(BookType, filtered, { params })).toThrow(ConfigurationError);
    expect(() => connection(BookType, new CursorPagination(), { params })).not.toThrow();
  });

  it("names a data handler that cannot filter", async () => {
    class Plain extends SyncDataHandler<Book> {
      getTotalItems(): number {
        return 0;
      }
      getItems(): readonly Book[] {
        return [];
      }
    }
    const built = schema({ query: { books: connection(BookType, filtered)(() => new Plain()) } });

    const result = await graphql({ schema: built, source: "{ books { totalCount } }", contextValue: undefined });

    expect(String(result.errors?.[0]?.originalError ?? result.errors?.[0])).toContain("Plain has no scopedTo");
  });
});

describe("a sortable or filterable column whose field has a gate", () => {
  const costly = new CursorPagination({
    sortField: "id",
    sortable: { id: "id", purchase: "cost_cents" },
    filterable: { cost: { column: "cost_cents", type: "integer", by: ["range"] }, genre: filterable.genre },
  });
  const typeWith = (auth: unknown): ObjectType<Book> =>
    object("Book", {
      id: t.int,
      genre: t.string,
      cost_cents: field(t.int, { name: "costCents", auth: auth as true }),
    });
  const listOf = (auth: unknown, seen = () => {}) =>
    schema({
      query: {
        books: connection(
          typeWith(auth),
          costly,
        )(() => {
          seen();
          return books;
        }),
      },
    });

  it.each(["(filter: { cost: { gt: 100 } })", "(sort: [PURCHASE_DESC])", "(sort: [ID_ASC, PURCHASE_ASC])"])(
    "books%s asks that gate before the list is read",
    async (args) => {
      const resolved = vi.fn<() => void>();
      const gate = vi.fn<(user: { readonly identity: string }) => boolean>((user) => user.identity === "ann");
      const { client } = serve(listOf((user: { readonly identity: string }) => gate(user), resolved));
      const document = `{ books${args} { nodes { id } } }`;

      const anonymous = await client.graphql(document);
      const bob = await client.as(new SimpleUser("bob")).graphql(document);
      const refusals = resolved.mock.calls.length;
      const ann = await client.as(new SimpleUser("ann")).graphql(document);

      expect(anonymous.errors).toMatchObject([{ path: ["books"], extensions: { code: "UNAUTHENTICATED" } }]);
      expect(bob.errors).toMatchObject([{ path: ["books"], extensions: { code: "FORBIDDEN" } }]);
      expect(refusals).toBe(0);
      expect(ann.errors).toBeUndefined();
      expect(gate).toHaveBeenCalledTimes(2);
    },
  );

  it.each(["", "(filter: { genre: { equal: novel } })", "(sort: [ID_DESC])", "(filter: { cost: {} })"])(
    "books%s does not ask it",
    async (args) => {
      const { client } = serve(listOf(useAuth()));

      expect(await client.graphql(`{ books${args} { nodes { id } } }`)).not.toHaveProperty("errors");
    },
  );

  it("waits for a gate that is asynchronous", async () => {
    const { client } = serve(listOf(async (user: { readonly identity: string }) => user.identity === "ann"));
    const document = "{ books(filter: { cost: { lte: 20 } }) { nodes { id } } }";

    expect((await client.as(new SimpleUser("bob")).graphql(document)).errors).toMatchObject([
      { extensions: { code: "FORBIDDEN" } },
    ]);
    expect(await client.as(new SimpleUser("ann")).graphql(document)).toMatchObject({
      data: { books: { nodes: [{ id: 1 }, { id: 2 }] } },
    });
  });

  it.each([
    ["a rule", rule<Book>({ name: "book.own", allows: () => true })],
    ["a function of the object", (_user: unknown, { parent }: { readonly parent: Book }) => parent.id > 1],
    ["a rule in a combination", some(useAuth(), rule<Book>({ name: "book.own", allows: () => true }))],
  ])("is an error at startup if its gate is %s", (_what, auth) => {
    expect(() => listOf(auth)).toThrow(ConfigurationError);
    expect(() => listOf(auth)).toThrow(
      "Query.books is sortable by purchase, but the gate of Book.costCents needs an object to decide about",
    );
  });

  it("is found in the fields of interfaces and classes", () => {
    const own = rule<{ readonly id: number }>({ name: "own", allows: () => true });
    const strategy = new CursorPagination({ filterable: { secret: { type: "integer", by: ["equal"] } } });
    class Model {
      readonly id: number = 1;
      readonly secret: number = 1;
    }
    (field(t.int, { auth: own }) as (target: object, key: string) => void)(Model.prototype, "secret");
    const Modelled = object("Modelled", { id: t.int }, { model: Model });
    const Secret: InterfaceType<{ id: number; secret: number }> = t.interface(
      "Secret",
      { secret: field(t.int, { auth: own }) },
      { resolveType: () => "Child" },
    );
    const Child: ObjectType<{ id: number; secret: number }> = object(
      "Child",
      { secret: t.int },
      { implements: [Secret] },
    );

    for (const type of [Modelled, Child])
      expect(() => schema({ query: { list: connection(type as typeof Child, strategy)(() => []) } })).toThrow(
        "Query.list is filterable by secret, but the gate of",
      );
  });
});
