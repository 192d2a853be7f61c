import { ConfigurationError, Depend, PorticoApp, provide } from "portico";
import { connection, field, Graph, mutation, type ObjectType, object, schema, t } from "portico/graphql";
import {
  AsyncDataHandler,
  CursorPagination,
  type Nestable,
  type ParentKey,
  type ParentSeek,
  type Seekable,
} from "portico/pagination";
import { type Database, openDatabase, type PorticoTables, tableHandler } from "portico/sql";
import { testClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { SECRET } from "../../pagination/ways.ts";

interface AuthorRow {
  readonly id: number;
}
interface BookRow {
  readonly id: number;
  readonly author_id: number;
}

const byId = new CursorPagination();
const Book: ObjectType<BookRow> = object("Book", { id: t.int });
const rows: readonly BookRow[] = [1, 2, 3, 4, 5, 6].map((id) => ({ id, author_id: id % 2 }));

/** A source in memory, which records the parents of each call. */
class Books extends AsyncDataHandler<BookRow> implements Seekable<BookRow>, Nestable<BookRow> {
  readonly uniqueKey: readonly string[] = ["id"];
  readonly calls: (readonly ParentKey[])[] = [];
  async getTotalItems(): Promise<number> {
    throw new Error("not the list of a parent");
  }
  async getItems(): Promise<readonly BookRow[]> {
    throw new Error("not the list of a parent");
  }
  async getItemsAfter(): Promise<readonly BookRow[]> {
    throw new Error("not the list of a parent");
  }
  async getItemsBelow(
    seeks: readonly ParentSeek[],
    _by: unknown,
    limit: number,
  ): Promise<readonly (readonly BookRow[] | Error)[]> {
    this.calls.push(seeks.map(({ parent }) => parent));
    return seeks.map(({ parent, key }) =>
      parent["author_id"] === 9
        ? new Error("no such shelf")
        : rows
            .filter(({ id, author_id }) => author_id === parent["author_id"] && id > Number(key?.[0] ?? 0))
            .slice(0, limit),
    );
  }
  async countBelow(parents: readonly ParentKey[]): Promise<readonly number[]> {
    return parents.map((parent) => rows.filter(({ author_id }) => author_id === parent["author_id"]).length);
  }
}

function serve(source: () => any, options: object = {}) {
  let resolved = 0;
  const books = connection(Book, byId, { parent: { author_id: "id" }, ...options })(() => {
    resolved++;
    return source();
  });
  const Author: ObjectType<AuthorRow> = object("Author", { id: t.int, books: books as never });
  const query = {
    authors: field(t.list(Author), { params: { ids: t.list(t.int) } })(({ ids }) => ids.map((id) => ({ id }))),
  };
  const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
  new Graph(schema({ query }), { debug: true }).mount(app);
  onTestFinished(() => app.close());
  const client = testClient(app);
  return {
    ask: (text: string) => client.graphql<any>(text),
    get resolved(): number {
      return resolved;
    },
  };
}

describe("a connection with parent", () => {
  it("calls its resolver and its handler once for all parents of an operation", async () => {
    const source = new Books();
    const app = serve(() => source);

    const { data, errors } = await app.ask(
      "{ authors(ids: [0, 1, 2]) { books(first: 2) { nodes { id } pageInfo { hasNextPage } totalCount } } }",
    );

    expect(errors).toBeUndefined();
    expect(app.resolved).toBe(1);
    expect(source.calls).toEqual([[{ author_id: 0 }, { author_id: 1 }, { author_id: 2 }]]);
    expect(data.authors).toEqual([
      { books: { nodes: [{ id: 2 }, { id: 4 }], pageInfo: { hasNextPage: true }, totalCount: 3 } },
      { books: { nodes: [{ id: 1 }, { id: 3 }], pageInfo: { hasNextPage: true }, totalCount: 3 } },
      { books: { nodes: [], pageInfo: { hasNextPage: false }, totalCount: 0 } },
    ]);
    await app.ask("{ authors(ids: [0]) { books { nodes { id } } } }");
    expect(app.resolved).toBe(2);
  });

  it("fails only the list that the handler returns an error for", async () => {
    const { errors } = await serve(() => new Books()).ask("{ authors(ids: [0, 9]) { id books { nodes { id } } } }");

    expect(errors).toMatchObject([{ path: ["authors", 1, "books", "nodes"] }]);
  });

  it("does not accept a list in memory, or a handler that returns too few lists", async () => {
    const inMemory = await serve(() => rows).ask("{ authors(ids: [0]) { books { nodes { id } } } }");
    class Short extends Books {
      override async getItemsBelow(): Promise<readonly []> {
        return [];
      }
    }
    const short = await serve(() => new Short()).ask("{ authors(ids: [0]) { books { nodes { id } } } }");

    expect(inMemory.errors?.[0]?.message).toContain("requires a data handler with getItemsBelow and countBelow");
    expect(short.errors?.[0]?.message).toContain("did not return one result for each parent");
  });

  it.each([[{}], [["author_id"]], ["author_id"], [{ author_id: 1 }], [{ author_id: "" }], [null]])(
    "does not accept %j as the option",
    (parent) => {
      expect(() => connection(Book, byId, { parent } as never)).toThrow(ConfigurationError);
      expect(() => connection(Book, byId, { parent } as never)).toThrow(/connection\.parent/);
    },
  );

  it("does not accept a filter with the column that refers to the parent", async () => {
    const { errors } = await serve(() => new Books(), { cursorScope: { author_id: 1 } }).ask(
      "{ authors(ids: [0]) { books { nodes { id } } } }",
    );

    expect(errors?.[0]?.message).toContain("must not contain author_id");
  });

  it("adds its size to the cost of the operation, times that of the lists around it", async () => {
    const limits = { cost: 300 };
    const Author: ObjectType<AuthorRow> = object("Author", {
      id: t.int,
      books: connection(Book, byId, { parent: { author_id: "id" } })(() => new Books()),
    });
    const authors = field(t.list(Author), { listSize: 10 })(() => [{ id: 1 }]);
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    new Graph(schema({ query: { authors } }), { limits }).mount(app);
    onTestFinished(() => app.close());
    const costly = await testClient(app).graphql("{ authors { books(first: 50) { nodes { id } } } }");
    const cheap = await testClient(app).graphql("{ authors { books(first: 5) { nodes { id } } } }");

    expect(costly.errors).toMatchObject([{ extensions: { code: "COST_LIMIT_EXCEEDED" } }]);
    expect(cheap.errors).toBeUndefined();
  });

  it("reads inside the transaction of each mutation", async () => {
    interface Tables extends PorticoTables {
      books: BookRow;
    }
    const database: Database<Tables> = openDatabase<Tables>("sqlite::memory:");
    onTestFinished(() => database.destroy());
    await database.schema
      .createTable("books")
      .addColumn("id", "integer", (column) => column.primaryKey())
      .addColumn("author_id", "integer", (column) => column.notNull())
      .execute();
    const unitOfWork = provide(async function* ({ ctx }) {
      const trx = await database.begin();
      try {
        yield trx;
      } finally {
        await trx.end(ctx.outcome);
      }
    });
    const Author: ObjectType<AuthorRow> = object("Author", {
      id: t.int,
      books: connection(Book, byId, { parent: { author_id: "id" } })(() =>
        tableHandler(database.current().selectFrom("books").selectAll()),
      ),
    });
    const add = mutation(Author, { params: { id: t.int, trx: Depend(unitOfWork) } })(async ({ id, trx }) => {
      await trx.insertInto("books").values({ id, author_id: 1 }).execute();
      return { id: 1 };
    });
    const author = field(Author)(() => ({ id: 1 }));
    const look = mutation(Author)(() => ({ id: 1 }));
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    new Graph(schema({ query: { author }, mutation: { add, look } }), {
      debug: true,
    }).mount(app);
    onTestFinished(() => app.close());

    const { data, errors } = await testClient(app).graphql(
      "mutation { a: look { books { nodes { id } } } b: add(id: 1) { books { nodes { id } } } c: add(id: 2) { books { nodes { id } totalCount } } }",
    );

    expect(errors).toBeUndefined();
    expect(data).toEqual({
      a: { books: { nodes: [] } },
      b: { books: { nodes: [{ id: 1 }] } },
      c: { books: { nodes: [{ id: 1 }, { id: 2 }], totalCount: 2 } },
    });
  });
});
