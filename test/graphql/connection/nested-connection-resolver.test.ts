import { makeExecutableSchema } from "@graphql-tools/schema";
import { memoryStores, PorticoApp } from "portico";
import { connectionResolver, Graph, type GraphOptions } from "portico/graphql";
import { CursorPagination, SyncListDataHandler } from "portico/pagination";
import { openDatabase, tableHandler } from "portico/sql";
import { testClient, watchStatements } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { outdatedPlaces } from "../../docs/lacks.ts";

interface Tables {
  readonly books: { readonly id: number; readonly author_id: number; readonly genre: string };
}
const authors = [{ id: 1 }, { id: 2 }, { id: 3 }];
const byId = new CursorPagination({ order: [["id", "asc"]], defaultPageSize: 2, maxPageSize: 10 });

const typeDefs = `
  type Book { id: ID! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type BookConnection { nodes: [Book!]! pageInfo: PageInfo! totalCount: Int }
  type Author { id: ID! books(first: Int, after: String, genre: String): BookConnection! }
  type Query { authors: [Author!]! books(first: Int): BookConnection! }
`;

async function serve(options: GraphOptions = {}) {
  const database = openDatabase<Tables>("sqlite::memory:");
  onTestFinished(() => database.destroy());
  await database.schema
    .createTable("books")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("author_id", "integer", (column) => column.notNull())
    .addColumn("genre", "text", (column) => column.notNull())
    .execute();
  const rows = Array.from({ length: 12 }, (_, at) => ({
    id: at + 1,
    author_id: 1 + (at % 3),
    genre: at % 2 === 0 ? "novel" : "essay",
  }));
  await database.insertInto("books").values(rows).execute();
  const schema = makeExecutableSchema({
    typeDefs,
    resolvers: {
      Query: {
        authors: () => authors,
        books: connectionResolver(byId, () => tableHandler(database.selectFrom("books").selectAll())),
      },
      Author: {
        books: connectionResolver(
          byId,
          (parent: undefined, { genre }: { readonly genre?: string }) => {
            expect(parent).toBeUndefined();
            const books = database.selectFrom("books").selectAll();
            return tableHandler(genre === undefined ? books : books.where("genre", "=", genre));
          },
          { parent: { author_id: "id" }, cursorScope: ({ args: { genre } }) => ({ genre: genre ?? "any" }) },
        ),
      },
    },
  });
  const app = new PorticoApp({ logger: false });
  new Graph(schema, options).mount(app);
  const client = testClient(app);
  const watch = watchStatements(database);
  onTestFinished(() => watch.stop());
  /** The number of statements, without those that read the catalogue for the first list of a query. */
  const count = (): number =>
    watch.statements.reduce((sum, { sql, count: times }) => sum + (sql.includes("pragma") ? 0 : times), 0);
  return { ask: (query: string) => client.graphql<any>(query), count };
}

const costIn = ({ extensions }: { readonly extensions?: object | undefined }): number =>
  (extensions as { readonly cost: { readonly cost: number } }).cost.cost;

// graphql-tools brings the graphql that is installed beside it.
describe.skipIf(process.env["PORTICO_GRAPHQL"] === "17")("connectionResolver with parent", () => {
  it("reads the lists of all parents of a level with one statement", async () => {
    const { ask, count } = await serve();

    const { data } = await ask("{ authors { id books { nodes { id } totalCount pageInfo { hasNextPage } } } }");

    expect(data.authors).toEqual(
      authors.map(({ id }) => ({
        id: String(id),
        books: {
          nodes: [{ id: String(id) }, { id: String(id + 3) }],
          totalCount: 4,
          pageInfo: { hasNextPage: true },
        },
      })),
    );
    // One for the rows and one for the totals.
    expect(count()).toBe(2);
  });

  it("runs the resolver once for each set of its own arguments", async () => {
    const { ask, count } = await serve();

    const { data } = await ask(`{ authors {
      novels: books(genre: "novel", first: 1) { nodes { id } }
      essays: books(genre: "essay", first: 3) { nodes { id } }
    } }`);

    expect(data.authors[0]).toEqual({
      novels: { nodes: [{ id: "1" }] },
      essays: { nodes: [{ id: "4" }, { id: "10" }] },
    });
    expect(count()).toBe(2);
  });

  it("continues the list of the parent that the cursor belongs to, and of no other", async () => {
    const { ask } = await serve();
    const { data } = await ask("{ authors { books { pageInfo { endCursor } } } }");
    const [{ books }] = data.authors;

    const next = await ask(`{ authors { books(after: "${books.pageInfo.endCursor}") { nodes { id } } } }`);

    expect(next.data).toBeNull();
    expect(next.errors?.[0]).toMatchObject({ path: ["authors", 1, "books"], extensions: { code: "BAD_USER_INPUT" } });
  });

  it("needs a handler that reads the lists of several parents, and an object of columns", async () => {
    const resolver = (): SyncListDataHandler<{ id: number }> => new SyncListDataHandler([{ id: 1 }]);
    connectionResolver(byId, resolver, { parent: { id: "id" } });

    // @ts-expect-error: the rows have no such column.
    connectionResolver(byId, resolver, { parent: { author_id: "id" } });
    expect(() => connectionResolver(byId, resolver, { parent: {} })).toThrow("an object from columns of the list");
  });
});

describe.skipIf(process.env["PORTICO_GRAPHQL"] === "17")("the list of a connectionResolver", () => {
  it("is part of the cost of an operation by its page size", async () => {
    const { ask } = await serve();
    const costOf = async (query: string) => costIn(await ask(query));

    const small = await costOf("{ books(first: 2) { nodes { id } } }");
    const large = await costOf("{ books(first: 9) { nodes { id } } }");

    // A node and its field for each of seven items.
    expect(large - small).toBe(14);
  });

  it("has no known size if another library wraps the resolver", async () => {
    const list = connectionResolver(byId, () => [{ id: 1 }]);
    const schema = makeExecutableSchema({
      typeDefs,
      resolvers: { Query: { books: (...call: Parameters<typeof list>) => list(...call) } },
    });
    const app = new PorticoApp({ logger: false });
    new Graph(schema).mount(app);
    const costOf = async (first: number): Promise<number> =>
      costIn(await testClient(app).graphql(`{ books(first: ${first}) { nodes { id } } }`));

    expect(outdatedPlaces("sdl-wrapped", (await costOf(2)) !== (await costOf(9)))).toEqual([]);
  });

  it("stops the startup in production without keys for its cursors", async () => {
    vi.stubEnv("NODE_ENV", "production");
    onTestFinished(() => void vi.unstubAllEnvs());
    const app = new PorticoApp({ logger: false, publicUrl: "https://shop.example", stores: memoryStores() });
    const schema = makeExecutableSchema({
      typeDefs,
      resolvers: { Query: { books: connectionResolver(byId, () => [{ id: 1 }]) } },
    });
    new Graph(schema).mount(app);

    await expect(app.started()).rejects.toThrow("cursorKeys");
  });
});
