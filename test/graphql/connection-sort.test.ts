import { printSchema } from "graphql";
import { ConfigurationError, PorticoApp } from "portico";
import { connection, type FormattedError, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { type CursorMetadata, CursorPagination, SyncListDataHandler } from "portico/pagination";
import { type TestClient, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { bodyOf, ids, range, SECRET } from "../pagination/ways.ts";

interface Book {
  readonly id: number;
  readonly rank: number | null;
}
interface Books {
  readonly nodes: readonly Book[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

const BookType: ObjectType<Book> = object("Book", { id: t.int });
const rows: readonly Book[] = range(1, 11).map((id) => ({ id, rank: id % 5 === 0 ? null : id % 3 }));
const sorted = new CursorPagination({ sortField: "id", sortable: ["rank", "id"], defaultPageSize: 4 });

function serve(): TestClient {
  const books = new SyncListDataHandler(rows, { name: "books" });
  const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
  app.get("/books", ({ response }) => response.paginate(books, { strategy: sorted }));
  new Graph(schema({ query: { books: connection(BookType, sorted)(() => books) } })).mount(app);
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

    expect(printed.match(/sort: \[String!\]/g)).toHaveLength(1);
    expect(printed).toContain("The columns to sort by: rank, id. Prefix a column with - for descending order.");
  });

  it("returns every row once, in the requested order", async () => {
    const client = serve();
    const route = bodyOf(await client.get("/books?sort=-rank,id&page_size=100"));

    const seen: unknown[] = [];
    for (let after = ""; ; ) {
      const { nodes, pageInfo } = await page(client, `(sort: ["-rank", "id"]${after})`);
      seen.push(...ids({ items: nodes }));
      if (!pageInfo.hasNextPage) break;
      after = `, after: "${pageInfo.endCursor}"`;
    }

    expect(seen).toEqual(ids(route));
    expect(seen).toHaveLength(rows.length);
    expect(ids({ items: (await page(client, "(sort: null, first: 3)")).nodes })).toEqual([1, 2, 3]);
    expect(ids({ items: (await page(client, '(sort: "-id", last: 2)')).nodes })).toEqual([2, 1]);
  });

  it("[PAG-40] shares cursors with a route in the same order, and with no other", async () => {
    const client = serve();
    const { next_cursor } = bodyOf<CursorMetadata>(await client.get("/books?sort=-id")).pagination;

    expect(ids({ items: (await page(client, `(sort: ["-id"], after: "${next_cursor}")`)).nodes })).toEqual([
      7, 6, 5, 4,
    ]);
    expect((await ask(client, `(sort: ["rank"], after: "${next_cursor}")`)).errors).toMatchObject([
      { extensions: { code: "BAD_USER_INPUT" } },
    ]);
  });

  it.each([
    ["[]", "sort is empty"],
    ['["title"]', "sort accepts only rank, id. Prefix a column with - for descending order"],
    ['["rank,id"]', "sort accepts only rank, id"],
    ['["id", "-id"]', "sort names a column more than once"],
    ['["id", "rank", "id", "rank"]', "sort accepts at most 3 columns"],
  ])("sort: %s is an error of the field", async (sort, sentence) => {
    const { errors } = await ask(serve(), `(sort: ${sort})`);

    expect(errors).toMatchObject([
      { message: expect.stringContaining(sentence), path: ["books"], extensions: { code: "BAD_USER_INPUT" } },
    ]);
  });

  it("reserves the name sort, which stays free with another strategy", async () => {
    const params = { sort: t.string };

    expect(() => connection(BookType, sorted, { params })).toThrow(ConfigurationError);
    expect(() => connection(BookType, new CursorPagination(), { params })).not.toThrow();
  });
});
