import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { isEqual, PorticoApp, rule } from "portico";
import { SimpleUser } from "portico/auth";
import { connection, field, Graph, type ObjectType, type Of, object, schema, t } from "portico/graphql";
import { CursorPagination, KeyMisfit } from "portico/pagination";
import { tableHandler, totalsCache } from "portico/sql";
import { type TestClient, testClient } from "portico/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTable, type Engine, engineNames, insertRows, openEngine } from "../../../lab/servers/engines.ts";
import { range, SECRET } from "../../pagination/ways.ts";

interface AuthorRow {
  readonly id: number;
  readonly mentor_id: number | null;
}
interface BookRow {
  readonly id: number;
  readonly author_id: number;
  readonly rank: number | null;
  readonly owner: string;
}
interface ReviewRow {
  readonly id: number;
  readonly book_id: number;
  readonly stars: number;
}
interface Tables {
  readonly authors: AuthorRow;
  readonly books: BookRow;
  readonly reviews: ReviewRow;
}

const AUTHORS = 100;
const authors = range(1, AUTHORS).map((id): AuthorRow => ({ id, mentor_id: id % 4 === 0 ? null : (id % 3) + 1 }));
/** Author 7 has no books. */
const books = range(1, AUTHORS * 8).map((id): BookRow => {
  const author = (id % AUTHORS) + 1;
  return {
    id,
    author_id: author === 7 ? 8 : author,
    rank: id % 5 === 0 ? null : id % 3,
    owner: id % 3 === 0 ? "ann" : "bob",
  };
});
const reviews = range(1, 4_000).map((id): ReviewRow => ({ id, book_id: (id % books.length) + 1, stars: (id % 5) + 1 }));

const PAGE = "nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";

interface Page {
  readonly nodes: readonly { readonly id: number; readonly reviews: Page; readonly alone: Page }[];
  readonly pageInfo: Readonly<Record<"hasNextPage" | "hasPreviousPage", boolean>> &
    Readonly<Record<"startCursor" | "endCursor", string>>;
  readonly totalCount: number;
}
interface Author {
  readonly id: number;
  readonly books: Page;
  readonly alone: Page;
}

describe.each(engineNames)("nested lists on %s", (name) => {
  let engine: Engine;
  let database: Kysely<Tables>;
  beforeAll(async () => {
    engine = await openEngine(name, `portico_nested_${randomUUID().slice(0, 8)}`);
    database = engine.database;
    await createTable(engine, "authors", { id: "key", mentor_id: "int?" });
    await createTable(engine, "books", { id: "key", author_id: "int", rank: "int?", owner: "text" }, [
      "author_id, rank, id",
      "author_id, id",
    ]);
    await createTable(engine, "reviews", { id: "key", book_id: "int", stars: "int" }, ["book_id, stars, id"]);
    await insertRows(engine, "authors", authors);
    await insertRows(engine, "books", books);
    await insertRows(engine, "reviews", reviews);
    // The first page reads the catalogue.
    await open({}).ask("{ authors(first: 1) { nodes { books { nodes { reviews { nodes { id } } } } } } }");
  });
  afterAll(() => engine?.close());
  beforeEach(() => void (engine.statements.length = 0));

  const ranked = new CursorPagination({
    order: [
      ["rank", "desc"],
      ["id", "asc"],
    ],
    sortable: ["id", { column: "rank", public: true }],
    maxPageSize: 1_000,
  });
  const byStars = new CursorPagination({ order: [["stars", "desc"]], totals: { capped: 3 } });
  const byId = new CursorPagination({ maxPageSize: 1_000 });

  interface Options {
    readonly isGated?: boolean;
    readonly ownersOf?: () => readonly string[];
    readonly log?: boolean;
  }
  /** `books` is read for all parents at once, and `alone` for each of them. */
  function open({ isGated = false, ownersOf = () => ["ann", "bob"] }: Options): {
    readonly client: TestClient;
    ask(query: string, as?: string): Promise<{ readonly data: any; readonly errors?: any }>;
  } {
    const owned = rule<BookRow>({
      name: "book.own",
      allows: (user, book) => book.owner === user.identity,
      where: (user) => isEqual("owner", user.identity),
    });
    const Review: ObjectType<ReviewRow> = object("Review", { id: t.int, stars: t.int });
    const Book: ObjectType<BookRow> = object(
      "Book",
      {
        id: t.int,
        reviews: connection(Review, byStars, { parent: { book_id: "id" } })(() =>
          tableHandler(database.selectFrom("reviews").selectAll()),
        ),
      },
      isGated ? { auth: owned } : {},
    );
    const bookQuery = (owner: string | null) => {
      const all = database.selectFrom("books").selectAll().where("owner", "in", ownersOf());
      return owner === null ? all : all.where("owner", "=", owner);
    };
    const Author: ObjectType<AuthorRow> = object("Author", {
      id: t.int,
      books: connection(Book, ranked, {
        parent: { author_id: "id" },
        params: { owner: t.nullable(t.string) },
        cursorScope: ({ args: { owner } }) => ({ owner }),
      })(({ owner }) => tableHandler(bookQuery(owner))),
      alone: connection(Book, ranked, {
        params: { owner: t.nullable(t.string) },
        cursorScope: ({
          parent,
          args: { owner },
        }: Of<AuthorRow, { owner: ReturnType<typeof t.nullable<typeof t.string>> }>) => ({
          owner,
          author_id: parent.id,
        }),
      })(({ parent, owner }) => tableHandler(bookQuery(owner).where("author_id", "=", parent.id))),
      mentored: connection(() => Author, byId, { parent: { mentor_id: "id" } })(() =>
        tableHandler(database.selectFrom("authors").selectAll()),
      ),
      siblings: connection(() => Author, byId, { parent: { mentor_id: "mentor_id" } })(() =>
        tableHandler(database.selectFrom("authors").selectAll()),
      ),
    });
    const query = {
      authors: connection(Author, byId)(() => tableHandler(database.selectFrom("authors").selectAll())),
      author: field(Author, { params: { id: t.int } })(({ id }) => authors[id - 1] as AuthorRow),
      ghost: field(Author)(() => ({}) as AuthorRow),
    };
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    new Graph(schema({ query }), {
      limits: { cost: null, aliases: null, breadth: null, fields: null },
      debug: true,
    }).mount(app);
    const client = testClient(app);
    return {
      client,
      ask: async (text, as) =>
        (
          await (as === undefined ? client : client.as(new SimpleUser(as))).post("/graphql", { body: { query: text } })
        ).json() as never,
    };
  }
  const ask = async (text: string, options: Options = {}, as?: string): Promise<any> => {
    const { data, errors } = await open(options).ask(text, as);
    expect(errors).toBeUndefined();
    return data;
  };
  const count = (): number => engine.statements.length;

  it("reads three levels with three statements", async () => {
    const { authors: found } = await ask(
      `{ authors(first: ${AUTHORS}) { nodes { id books(first: 5) { nodes { id reviews(first: 2) { ${PAGE} } } } } } }`,
    );

    expect(count()).toBe(3);
    expect(found.nodes).toHaveLength(AUTHORS);
    for (const author of found.nodes as Author[]) {
      const own = books.filter(({ author_id }) => author_id === author.id);
      expect(author.books.nodes).toHaveLength(Math.min(5, own.length));
      for (const book of author.books.nodes) {
        expect(own.map(({ id }) => id)).toContain(book.id);
        const best = reviews
          .filter(({ book_id }) => book_id === book.id)
          .toSorted((a, b) => b.stars - a.stars || b.id - a.id);
        expect(book.reviews.nodes).toEqual(best.slice(0, 2).map(({ id }) => ({ id })));
        expect(book.reviews.pageInfo.hasNextPage).toBe(best.length > 2);
      }
    }
  });

  it.each(["first: 3", "last: 3", "first: 3, sort: [ID_DESC]", 'last: 2, owner: "ann"', "first: 0"])(
    "returns the pages of books(%s) as each parent's own list does, and their cursors",
    async (args) => {
      const { authors: found } = await ask(
        `{ authors(first: 20) { nodes { books(${args}) { ${PAGE} totalCount } alone(${args}) { ${PAGE} totalCount } } } }`,
      );

      for (const author of found.nodes as Author[]) expect(author.books).toEqual(author.alone);
    },
  );

  it("reads the pages after different cursors of different parents with one statement", async () => {
    const text = (alias: string, id: number, args: string): string =>
      `${alias}: author(id: ${id}) { books(${args}) { ${PAGE} } alone(${args}) { ${PAGE} } }`;
    const ids = range(1, 30);
    const started = await ask(`{ ${ids.map((id) => text(`a${id}`, id, "first: 3")).join(" ")} }`);
    const next = ids.map((id) => {
      const cursor = (started[`a${id}`] as Author).books.pageInfo.endCursor;
      // Every third one starts from the beginning, and author 7 has no cursor.
      return text(`a${id}`, id, id % 3 === 0 || cursor === null ? "first: 3" : `first: 3, after: "${cursor}"`);
    });
    engine.statements.length = 0;

    const data = await ask(`{ ${next.join(" ")} }`);

    expect(count() - ids.length).toBe(1);
    for (const author of Object.values(data) as Author[]) expect(author.books).toEqual(author.alone);
    expect((data.a1 as Author).books.pageInfo.hasPreviousPage).toBe(true);
  });

  it("needs one more statement for a range between two cursors, and one for totals", async () => {
    const ids = range(10, 25);
    const started = await ask(
      `{ ${ids.map((id) => `a${id}: author(id: ${id}) { books(first: 6) { ${PAGE} } }`).join(" ")} }`,
    );
    const field = (kind: string): string =>
      `{ ${ids
        .map((id) => {
          const { startCursor, endCursor } = (started[`a${id}`] as Author).books.pageInfo;
          return `a${id}: author(id: ${id}) { list: ${kind}(after: "${startCursor}", before: "${endCursor}", first: 9) { ${PAGE} totalCount } }`;
        })
        .join(" ")} }`;
    engine.statements.length = 0;

    const nested = await ask(field("books"));

    expect(count()).toBe(3);
    expect(nested).toEqual(await ask(field("alone")));
    expect(nested.a10.list.nodes).toHaveLength(4);
  });

  it("rejects a cursor of another parent, on that field only", async () => {
    const { a, b } = await ask(
      `{ a: author(id: 1) { books(first: 2) { ${PAGE} } } b: author(id: 2) { books(first: 2) { ${PAGE} } } }`,
    );
    const [own, other] = [a, b].map(({ books: page }: Author) => page.pageInfo.endCursor);

    const { data, errors } = await open({}).ask(
      `{ a: author(id: 1) { id books(first: 2, after: "${own}") { nodes { id } } other: books(first: 2, after: "${other}") { nodes { id } } } }`,
    );
    const nested = await open({}).ask(`{ a: author(id: 1) { books(first: 2, after: "${own}") { nodes { id } } } }`);

    expect(data).toBeNull();
    expect(errors).toMatchObject([{ path: ["a", "other"], extensions: { code: "BAD_USER_INPUT" } }]);
    expect(nested.errors).toBeUndefined();
    expect(nested.data.a.books.nodes).toHaveLength(2);
  });

  it("applies the rule of the type to every page and total", async () => {
    const text = `{ authors(first: 30) { nodes { id books(first: 3) { ${PAGE} totalCount } alone(first: 3) { ${PAGE} totalCount } } } }`;
    const seen = await ask(text, { isGated: true }, "ann");

    const own = new Set(books.filter(({ owner }) => owner === "ann").map(({ id }) => id));
    for (const author of seen.authors.nodes as Author[]) {
      expect(author.books.nodes.every(({ id }) => own.has(id))).toBe(true);
      expect(author.books.totalCount).toBe(
        books.filter(({ author_id, owner }) => author_id === author.id && owner === "ann").length,
      );
      expect(author.books).toEqual(author.alone);
    }
    engine.statements.length = 0;
    await ask(text.replace(/alone.*?totalCount }/, ""), { isGated: true }, "bob");
    expect(count()).toBe(3);
    expect((await open({ isGated: true }).ask(text)).data.authors.nodes[0].books.nodes).toEqual([]);
  });

  it("keeps fields with different arguments apart", async () => {
    const { authors: found } = await ask(
      `{ authors(first: 10) { nodes { id ann: books(first: 4, owner: "ann") { nodes { id } } bob: books(first: 4, owner: "bob") { nodes { id } } } } }`,
    );

    expect(count()).toBe(3);
    const ownerOf = new Map(books.map(({ id, owner }) => [id, owner]));
    for (const author of found.nodes as Record<"ann" | "bob", Page>[])
      for (const owner of ["ann", "bob"] as const)
        expect(author[owner].nodes.every(({ id }) => ownerOf.get(id) === owner)).toBe(true);
  });

  it("reads equal lists once, and none for a null", async () => {
    const { authors: found } = await ask(
      `{ authors(first: ${AUTHORS}) { nodes { id siblings(first: 2) { nodes { id } totalCount } } } }`,
    );

    const { parameters } = engine.statements[1] as Engine["statements"][number];
    // PostgreSQL sends arrays, and the others one number and one value for each list.
    const lists = name === "PostgreSQL" ? (parameters[0] as unknown[]).length : parameters.length / 2;
    expect(lists).toBe(4);
    for (const { id, siblings } of found.nodes as { id: number; siblings: Page }[])
      expect(siblings.totalCount).toBe(
        (authors[id - 1] as AuthorRow).mentor_id === null
          ? 0
          : authors.filter(({ mentor_id }) => mentor_id === (authors[id - 1] as AuthorRow).mentor_id).length,
      );
  });

  it("fails the field of a parent that has no such value", async () => {
    const { data, errors } = await open({}).ask("{ ghost { books { nodes { id } } } }");

    expect(data).toBeNull();
    expect(errors[0].message).toContain("connection.parent refers to the field id of the parent");
    expect(count()).toBe(0);
  });

  it("stays below the engine's limits for terms and parameters", async () => {
    const some = range(1, 140);
    const handler = tableHandler(database.selectFrom("books").selectAll().where("id", "in", some));
    const parents = range(1, 500).map((author_id) => ({ author_id }));
    const by = { order: [["id", "asc"]] as const, direction: "forward" as const };
    await handler.getItemsBelow([{ parent: { author_id: 1 }, key: null }], by, 3);
    engine.statements.length = 0;

    const found = await handler.getItemsBelow(
      parents.map((parent) => ({ parent, key: null })),
      by,
      3,
    );
    const counts = await handler.countBelow(parents, null);

    for (const [index, { author_id }] of parents.entries()) {
      const own = books.filter((book) => book.author_id === author_id && some.includes(book.id)).map(({ id }) => id);
      expect((found[index] as readonly BookRow[]).map(({ id }) => id)).toEqual(own.slice(0, 3));
      expect(counts[index]).toBe(own.length);
    }
    const limit = { PostgreSQL: 65_535, MariaDB: 65_535, SQLite: 32_766 }[name];
    expect(Math.max(...engine.statements.map(({ parameters }) => parameters.length))).toBeLessThanOrEqual(limit);
    expect(count()).toBe({ PostgreSQL: 2, MariaDB: 4, SQLite: 6 }[name]);
  });

  it("splits a thousand parents into statements of 500 lists, where there is no LATERAL", async () => {
    const handler = tableHandler(database.selectFrom("books").selectAll());
    const seeks = range(1, 1_001).map((author_id) => ({ parent: { author_id }, key: null }));

    await handler.getItemsBelow(seeks, { order: [["id", "asc"]], direction: "forward" }, 2);

    const reads = engine.statements.filter(({ sql: text }) => text.includes("~list"));
    expect(reads).toHaveLength(name === "PostgreSQL" ? 1 : 3);
  });

  it("caches the totals of each parent, if the handler has a cache", async () => {
    const handler = tableHandler(database.selectFrom("books").selectAll(), { totalsCache: totalsCache() });
    await handler.countBelow([{ author_id: 1 }], null);
    engine.statements.length = 0;

    const first = await handler.countBelow([{ author_id: 1 }, { author_id: 2 }, { author_id: 7 }], null);
    const second = await handler.countBelow([{ author_id: 7 }, { author_id: 2 }], null);

    expect(first).toEqual([8, 8, 0]);
    expect(second).toEqual([0, 8]);
    expect(count()).toBe(1);
  });

  it("reads a query with a common table expression, and one with a computed column", async () => {
    const withExpression = tableHandler(
      database
        .with("shelf", (db) => db.selectFrom("books").selectAll().where("owner", "=", "ann"))
        .selectFrom("shelf")
        .selectAll(),
    );
    const computed = tableHandler(
      database.selectFrom("books").select(["id", "author_id", sql<number>`id % 4`.as("part")]),
    );
    const key = (...values: number[]): (string | bigint)[] =>
      values.map((value) => (name === "SQLite" ? BigInt(value) : String(value)));

    const shelves = await withExpression.getItemsBelow(
      [
        { parent: { author_id: 2 }, key: null },
        { parent: { author_id: 4 }, key: key(303) },
      ],
      { order: [["id", "asc"]], direction: "forward" },
      2,
    );
    const parts = await computed.getItemsBelow(
      [
        { parent: { author_id: 2 }, key: null },
        { parent: { author_id: 3 }, key: key(2, 302) },
      ],
      {
        order: [
          ["part", "desc"],
          ["id", "asc"],
        ],
        direction: "forward",
      },
      2,
    );

    const idsOf = (lists: readonly (readonly { readonly id: number }[] | Error)[]): unknown =>
      lists.map((list) => (list instanceof Error ? list : list.map(({ id }) => id)));
    const annsOf = (author: number, after: number): number[] =>
      books
        .filter(({ id, author_id, owner }) => author_id === author && owner === "ann" && id > after)
        .map(({ id }) => id);
    expect(idsOf(shelves)).toEqual([annsOf(2, 0).slice(0, 2), annsOf(4, 303).slice(0, 2)]);
    expect(idsOf(parts)).toEqual([
      [1, 101],
      [402, 502],
    ]);
  });

  it("fails only the list whose key does not fit its column", async () => {
    const handler = tableHandler(database.selectFrom("books").selectAll());
    const seeks = range(1, 9).map((author_id) => ({
      parent: { author_id },
      key: [author_id === 5 ? "no number" : name === "SQLite" ? 150n : "150"],
    }));

    const found = await handler.getItemsBelow(seeks, { order: [["id", "asc"]], direction: "forward" }, 2);

    const expected = seeks.map(({ parent: { author_id } }) =>
      books.filter((book) => book.author_id === author_id && book.id > 150).slice(0, 2),
    );
    expect(found[4]).toBeInstanceOf(KeyMisfit);
    expect(found.toSpliced(4, 1)).toEqual(expected.toSpliced(4, 1));
  });

  it("fails the fields if the resolver fails", async () => {
    const { errors } = await open({
      ownersOf: () => {
        throw new Error("no owners");
      },
    }).ask("{ a: author(id: 1) { books { nodes { id } } } b: author(id: 2) { books { nodes { id } } } }");

    expect(errors.length).toBeGreaterThan(0);
    expect(errors[0].message).toContain("no owners");
  });
});
