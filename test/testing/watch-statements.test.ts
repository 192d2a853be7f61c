import { DatabaseSync } from "node:sqlite";
import { Kysely, SqliteDialect } from "kysely";
import { type BaseContext, PorticoApp } from "portico";
import { connection, field, Graph, loader, type ObjectType, type Of, object, schema, t } from "portico/graphql";
import { CursorPagination } from "portico/pagination";
import { openDatabase, type PorticoTables, tableHandler } from "portico/sql";
import { expectFlat, type StatementWatch, testClient, watchStatements } from "portico/testing";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { nodeSqlite } from "../../lab/servers/node-sqlite.ts";
import { range, SECRET } from "../pagination/ways.ts";

interface AuthorRow {
  readonly id: number;
  readonly name: string;
}
interface BookRow {
  readonly id: number;
  readonly author_id: number;
}
type Tables = PorticoTables & { readonly authors: AuthorRow; readonly books: BookRow };

const databases: Readonly<Record<string, () => Kysely<Tables>>> = {
  openDatabase: () => openDatabase<Tables>("sqlite::memory:"),
  "another Kysely": () =>
    new Kysely<Tables>({ dialect: new SqliteDialect({ database: nodeSqlite(new DatabaseSync(":memory:")) }) }),
};

describe.each(Object.keys(databases))("statements of %s", (kind) => {
  const database = (databases[kind] as () => Kysely<Tables>)();
  const client = testClient(openApp(database));
  let watch: StatementWatch;
  beforeAll(async () => {
    await database.schema
      .createTable("authors")
      .addColumn("id", "integer", (column) => column.primaryKey())
      .addColumn("name", "text", (column) => column.notNull())
      .execute();
    await database.schema
      .createTable("books")
      .addColumn("id", "integer", (column) => column.primaryKey())
      .addColumn("author_id", "integer", (column) => column.notNull())
      .execute();
    const authors = range(1, 30).map((id) => ({ id, name: `author ${id}` }));
    await database.insertInto("authors").values(authors).execute();
    const books = range(1, 90).map((id) => ({ id, author_id: (id % 30) + 1 }));
    await database.insertInto("books").values(books).execute();
    // The first page reads the catalogue.
    await client.graphql("{ authors(first: 1) { nodes { books { nodes { id } } alone { nodes { id } } } } }");
  });
  beforeEach(() => void (watch = watchStatements(database)));
  afterEach(() => watch.stop());

  it("belong to the route that sent them, also inside a transaction", async () => {
    await client.get("/authors/1");
    await client.get("/authors/2");

    expect(watch.statements).toEqual([
      { place: "GET /authors/:id", sql: expect.stringContaining('"id" = ?'), count: 2, isConnection: false },
    ]);
    expect(watch.countOf("GET /authors/:id")).toBe(2);
    expect(watch.countOf("GET /books")).toBe(0);
    expect(watch.count).toBe(2);
  });

  it("belong to the field that sent them, a page to its connection, and a batch to the field that loads", async () => {
    await client.graphql(`{
      authors(first: 3) {
        totalCount
        nodes { name books(first: 2) { nodes { id } } loaded { id } alone { nodes { id } } }
      }
    }`);

    const counts = watch.statements.map(({ place, count }) => `${place} ${count}`);
    expect(new Set(counts)).toEqual(
      new Set(["Author.alone 3", "Author.books 1", "Author.loaded 1", "Query.authors 1"]),
    );
    expect(watch.countOf("Query.authors")).toBe(2);
  });

  it("belong to the field after it has waited, and to no request outside of one", async () => {
    await client.graphql("{ later }");
    await database.selectFrom("books").select("id").limit(1).execute();

    expect(watch.statements.map(({ place }) => place)).toEqual(["Query.later", null]);
  });

  it("are not counted after stop, and from the beginning after reset", async () => {
    await client.get("/authors/1");
    watch.reset();
    expect(watch.count).toBe(0);
    await client.get("/authors/1");
    expect(watch.count).toBe(1);
    watch.stop();
    await client.get("/authors/1");
    expect(watch.count).toBe(1);
  });

  it("are counted by each watch, and not for another database", async () => {
    const other = openDatabase("sqlite::memory:");
    const [second, stranger] = [watchStatements(database), watchStatements(other)];
    await client.get("/authors/1");
    second.stop();
    await client.get("/authors/1");

    expect([watch.count, second.count, stranger.count]).toEqual([2, 1, 0]);
    stranger.stop();
    await other.destroy();
  });

  it("refuses a transaction", async () => {
    const trx = await database.startTransaction().execute();
    expect(() => watchStatements(trx)).toThrow("watchStatements must be called with a database, not a transaction");
    await trx.rollback().execute();
  });

  describe("expectFlat", () => {
    const authors = (selection: string) => (first: number) =>
      client.graphql(`query ($first: Int) { authors(first: $first) { nodes { ${selection} } } }`, { first });

    it("accepts a list, lists below it, and loaders", async () => {
      await expectFlat(watch, authors("name books(first: 2) { nodes { id } } loaded { id }"));
      await expectFlat(watch, (page_size) => client.get("/books", { query: { page_size } }), { sizes: [1, 5, 50] });
    });

    it("names a connection that reads each parent, and its parent columns", async () => {
      await expect(expectFlat(watch, authors("alone(first: 2) { nodes { id } }"))).rejects.toThrow(
        'Author.alone issues one statement per parent: declare `parent: { author_id: "id" }` on the connection, or use a loader\n  statements: 2 for size 2, 20 for size 20\n  select',
      );
    });

    it("names a field that reads each parent, and suggests a loader", async () => {
      await expect(expectFlat(watch, authors("name first { id }"), { sizes: [3, 4] })).rejects.toThrow(
        "Author.first issues one statement per parent: use a loader, which reads all parents with one statement\n  statements: 3 for size 3, 4 for size 4",
      );
    });

    it("names a route that reads each item, and the column", async () => {
      const slow = (limit: number) => client.get("/slow", { query: { limit } });
      await expect(expectFlat(watch, slow)).rejects.toThrow(
        "GET /slow issues one statement per item: read all items with one statement, for example with `where author_id in (...)`",
      );
    });

    it("does not take a field that occurs only in a larger page for an N+1", async () => {
      await expectFlat(watch, authors("name rare { id }"));
    });

    it("refuses responses that prove nothing", async () => {
      await expect(expectFlat(watch, authors("name"), { sizes: [30, 50] })).rejects.toThrow(
        "expectFlat proves nothing: the response with size 50 has no more items than the one with size 30",
      );
      await expect(expectFlat(watch, () => client.get("/nowhere"))).rejects.toThrow("size 2 has the status 404");
      await expect(expectFlat(watch, authors("unknown"))).rejects.toThrow("size 2 has errors");
    });

    it.each([[[2]], [[20, 2]], [[2, 2]], [[0, 2]], ["2, 20"]])("refuses the sizes %j", async (sizes) => {
      await expect(expectFlat(watch, authors("name"), { sizes: sizes as never })).rejects.toThrow("expectFlat.sizes");
    });
  });
});

interface In {
  readonly parent: AuthorRow;
  readonly ctx: BaseContext;
}

function openApp(database: Kysely<Tables>): PorticoApp {
  const byId = new CursorPagination({ order: [["id", "asc"]], maxPageSize: 100 });
  const booksOf = (ids: readonly number[]) =>
    database.selectFrom("books").selectAll().where("author_id", "in", ids).execute();
  const books = loader(async (ids: readonly number[]) => {
    const found = await booksOf(ids);
    return ids.map((id) => found.filter((book) => book.author_id === id));
  });
  const Book: ObjectType<BookRow> = object("Book", { id: t.int });
  const Author: ObjectType<AuthorRow> = object("Author", {
    name: t.string,
    books: connection(Book, byId, { parent: { author_id: "id" } })(() =>
      tableHandler(database.selectFrom("books").selectAll()),
    ),
    alone: connection(Book, byId, { cursorScope: ({ parent }: Of<AuthorRow>) => ({ author: parent.id }) })(
      ({ parent }) => tableHandler(database.selectFrom("books").selectAll().where("author_id", "=", parent.id)),
    ),
    loaded: field(t.list(Book))(({ parent, ctx }: In) => books.load(ctx, parent.id)),
    rare: field(t.list(Book))(({ parent, ctx }: In) => (parent.id < 10 ? [] : books.load(ctx, parent.id))),
    first: field(t.list(Book))(({ parent }: In) =>
      database.selectFrom("books").selectAll().where("author_id", "=", parent.id).limit(1).execute(),
    ),
  });
  const graph = new Graph(
    schema({
      query: {
        authors: connection(Author, byId)(() => tableHandler(database.selectFrom("authors").selectAll())),
        later: field(t.int)(async () => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          return (await database.selectFrom("books").select("id").limit(1).execute()).length;
        }),
      },
    }),
  );
  const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
  graph.mount(app);
  app.get("/authors/:id", ({ path }) =>
    database
      .transaction()
      .execute((trx) => trx.selectFrom("authors").selectAll().where("id", "=", Number(path.id)).execute()),
  );
  app.get("/books", ({ response }) =>
    response.apaginate(tableHandler(database.selectFrom("books").selectAll()), { strategy: byId }),
  );
  app.get("/slow", async ({ request }) => {
    const ids = range(1, Number(new URL(request.url, "http://x").searchParams.get("limit")));
    return Promise.all(
      ids.map((id) => database.selectFrom("books").selectAll().where("author_id", "=", id).executeTakeFirst()),
    );
  });
  return app;
}
