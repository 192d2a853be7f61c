import { type GraphQLSchema, printSchema } from "graphql";
import { ConfigurationError, PorticoApp } from "portico";
import { connection, type FormattedError, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { type CursorMetadata, CursorPagination, SyncListDataHandler } from "portico/pagination";
import { type TestClient, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { bodyOf, ids, range, SECRET } from "../../pagination/ways.ts";

interface Book {
  readonly id: number;
  readonly rank: number | null;
}
interface Books {
  readonly nodes: readonly Book[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

const BookType: ObjectType<Book> = object("Book", { id: t.int, rank: t.nullable(t.int) });
const item = z.object({ id: z.number(), rank: z.number().nullable() });
const rows: readonly Book[] = range(1, 11).map((id) => ({ id, rank: id % 5 === 0 ? null : id % 3 }));
const sorted = new CursorPagination({ sortField: "id", sortable: ["rank", "id"], defaultPageSize: 4 });

function serve(): TestClient {
  const books = new SyncListDataHandler(rows, { name: "books" });
  return serveOnce(schema({ query: { books: connection(BookType, sorted)(() => books) } }), (app) =>
    app.get("/books", { paginated: { strategy: sorted, item } }, ({ response }) =>
      response.paginate(books, { strategy: sorted }),
    ),
  );
}
function serveOnce(built: GraphQLSchema, prepare: (app: PorticoApp) => unknown = () => {}): TestClient {
  const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
  prepare(app);
  new Graph(built).mount(app);
  onTestFinished(() => app.close());
  return testClient(app);
}
async function ask(
  client: TestClient,
  args: string,
): Promise<{ data: { books: Books } | null; errors?: readonly FormattedError[] }> {
  const query = `{ books${args} { nodes { id } pageInfo { hasNextPage endCursor } } }`;
  return (await client.post("/graphql", { body: { query } })).json() as never;
}
async function page(client: TestClient, args: string): Promise<Books> {
  const { data, errors } = await ask(client, args);
  expect(errors).toBeUndefined();
  return (data as { books: Books }).books;
}

describe("a connection over a sortable strategy", () => {
  it("has the argument sort only if the strategy is sortable", () => {
    const query = {
      sorted: connection(BookType, sorted)(() => rows),
      plain: connection(BookType, new CursorPagination())(() => rows),
    };

    const printed = printSchema(schema({ query }));

    expect(printed.match(/sort: \[BookSort!\]/g)).toHaveLength(1);
    expect(printed).toContain("enum BookSort {\n  RANK_ASC\n  RANK_DESC\n  ID_ASC\n  ID_DESC\n}");
  });

  it("returns every row once, in the requested order", async () => {
    const client = serve();
    const route = bodyOf(await client.get("/books?sort=-rank,id&page_size=100"));

    const seen: unknown[] = [];
    for (let after = ""; ; ) {
      const { nodes, pageInfo } = await page(client, `(sort: [RANK_DESC, ID_ASC]${after})`);
      seen.push(...ids({ items: nodes }));
      if (!pageInfo.hasNextPage) break;
      after = `, after: "${pageInfo.endCursor}"`;
    }

    expect(seen).toEqual(ids(route));
    expect(seen).toHaveLength(rows.length);
    expect(ids({ items: (await page(client, "(sort: null, first: 3)")).nodes })).toEqual([1, 2, 3]);
    expect(ids({ items: (await page(client, "(sort: ID_DESC, last: 2)")).nodes })).toEqual([2, 1]);
  });

  it("[PAG-40] shares cursors with a route in the same order, and with no other", async () => {
    const client = serve();
    const { next_cursor } = bodyOf<CursorMetadata>(await client.get("/books?sort=-id")).pagination;

    expect(ids({ items: (await page(client, `(sort: [ID_DESC], after: "${next_cursor}")`)).nodes })).toEqual([
      7, 6, 5, 4,
    ]);
    expect((await ask(client, `(sort: [RANK_ASC], after: "${next_cursor}")`)).errors).toMatchObject([
      { extensions: { code: "BAD_USER_INPUT" } },
    ]);
  });

  it.each([
    ["[]", "sort is empty"],
    ["[ID_ASC, ID_DESC]", "sort repeats a name"],
    ["[ID_ASC, RANK_ASC, ID_ASC, RANK_ASC]", "sort accepts at most 3 names"],
  ])("sort: %s is an error of the field", async (sort, sentence) => {
    const { errors } = await ask(serve(), `(sort: ${sort})`);

    expect(errors).toMatchObject([
      { message: expect.stringContaining(sentence), path: ["books"], extensions: { code: "BAD_USER_INPUT" } },
    ]);
  });

  it("has the names of the API as an enum, and does not show the columns", async () => {
    const named = new CursorPagination({ sortField: "id", sortable: { popularRank: "rank", x1Key: "id" } });
    const books = connection(BookType, named)(() => rows);
    const client = serveOnce(schema({ query: { books } }));

    const printed = printSchema(schema({ query: { books } }));
    const { nodes } = await page(client, "(sort: [POPULAR_RANK_DESC, X1_KEY_ASC], first: 4)");
    const { errors } = await ask(client, "(sort: [RANK_DESC])");

    expect(printed).toContain("{\n  POPULAR_RANK_ASC\n  POPULAR_RANK_DESC\n  X1_KEY_ASC\n  X1_KEY_DESC\n}");
    expect(ids({ items: nodes })).toEqual([5, 10, 2, 8]);
    expect(errors).toMatchObject([{ extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }]);
  });

  it("does not accept names that cannot be an enum", () => {
    for (const sortable of [["books.rank"], ["1st"], { rank: "rank", RANK: "id" }, { __rank: "rank" }])
      expect(() => connection(BookType, new CursorPagination({ sortable } as never) as never)).toThrow(
        /^CursorPagination\.sortable ".+" cannot be the value .+ of an enum in GraphQL/,
      );
  });

  it("shares its enum with lists of the same names, and names the option for lists of other names", () => {
    const alike = new CursorPagination({ order: [["rank", "asc"]], sortable: ["rank", "id"] });
    const other = new CursorPagination({ sortable: ["id"] });
    const query = { one: connection(BookType, sorted)(() => rows), two: connection(BookType, alike)(() => rows) };

    expect(printSchema(schema({ query })).match(/sort: \[BookSort!\]/g)).toHaveLength(2);
    expect(() => schema({ query: { ...query, three: connection(BookType, other)(() => rows) } })).toThrow(
      "there are two types named BookSort. Set inputPrefix on one of the connections",
    );
    const three = connection(BookType, other, { inputPrefix: "Numbered" })(() => rows);
    expect(printSchema(schema({ query: { ...query, three } }))).toContain("sort: [NumberedSort!]");
    expect(() => connection(BookType, other, { inputPrefix: "not a name" })).toThrow("connection.inputPrefix");
  });

  it("reserves the name sort, which stays free with another strategy", async () => {
    const params = { sort: t.string };

    expect(() => connection(BookType, sorted, { params })).toThrow(ConfigurationError);
    expect(() => connection(BookType, new CursorPagination(), { params })).not.toThrow();
  });
});
