import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { isEqual, PorticoApp, rule } from "portico";
import { SimpleUser } from "portico/auth";
import { connection, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { CursorPagination, PageNumberPagination } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { expectPlans, type PlansOptions, testClient, watchStatements } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { createTable, type Engine, engineNames, insertRows, openEngine } from "../../lab/servers/engines.ts";
import { publicColumns, publicFilters, range, SECRET } from "../pagination/ways.ts";

interface AuthorRow {
  readonly id: number;
}
interface BookRow {
  readonly id: number;
  readonly author_id: number;
  readonly year: number;
  readonly rank: number | null;
  readonly title: string;
  readonly owner: string;
}

const COMPLETE = [
  "owner, year, id",
  "owner, title, year, id",
  "author_id, year, id",
  "year, id",
  "rank, id",
  "title, id",
  "owner, year desc, id",
  "year desc, id",
];
/** Only PostgreSQL has indexes with a place for nulls. */
const PLACED = ["rank desc nulls last, id desc"];
/** The number of rows matters to planners. */
const SIZES = [1, 20, 3_000];

describe.each(engineNames)("expectPlans on %s", (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(name, `portico_expect_plans_${randomUUID().slice(0, 8)}`);
    await createTable(engine, "authors", { id: "key" });
    await insertRows(
      engine,
      "authors",
      range(1, 5).map((id) => ({ id })),
    );
    for (const size of [0, ...SIZES]) {
      await createBooks(`books_${size}`, size, name === "PostgreSQL" ? [...COMPLETE, ...PLACED] : COMPLETE);
      await createBooks(`bare_${size}`, size, []);
    }
  });
  afterAll(() => engine?.close());

  async function createBooks(table: string, size: number, indexes: readonly string[]): Promise<void> {
    const columns = { id: "key", author_id: "int", year: "int", rank: "int?", title: "text", owner: "text" } as const;
    await createTable(engine, table, columns, indexes);
    const rows = range(1, size).map((id) => ({
      id,
      author_id: 1 + (id % 5),
      year: 1900 + (id % 100),
      rank: id % 4 === 0 ? null : id % 50,
      title: `title ${id % 1000}`,
      owner: id % 2 === 1 ? "ann" : "bob",
    }));
    await insertRows(engine, table, rows);
    await sql.raw(name === "MariaDB" ? `analyze table ${table}` : `analyze ${table}`).execute(engine.database);
  }

  const mark = name === "MariaDB" ? "`" : '"';
  const quoted = (text: string): string => `${mark}${text}${mark}`;
  const index = (table: string, columns: string, named = columns): string => {
    const parts = columns.split(", ").map((column) => column.replace(/^\w+/, quoted));
    const own = quoted([table, ...named.replaceAll(" desc", "").split(", ")].join("_"));
    return `CREATE INDEX ${name === "PostgreSQL" ? "" : `${own} `}ON ${quoted(table)} (${parts.join(", ")})`;
  };

  /** Reads one of the lists over a table. */
  const read: Readonly<Record<string, (table: string) => Promise<unknown>>> = {
    "a route": (table) => open(table).get("/books"),
    "a nullable column": (table) => open(table).get("/ranked"),
    "a mixed order": (table) => open(table).get("/mixed"),
    "pages by offset": (table) => open(table).get("/pages"),
    "a sortable connection": (table) => open(table).graphql("{ books { nodes { id } } }"),
    "a nested connection": (table) => open(table).graphql("{ authors { nodes { books { nodes { id } } } } }"),
    "a filter": (table) => open(table).get("/filtered?owner=ann"),
    "two filters": (table) => open(table).get("/filtered?owner=ann&title=title 1"),
    "nulls in another place": (table) => open(table).get("/unranked"),
    "a rule": (table) => open(table).as(new SimpleUser("ann")).get("/own"),
  };

  async function plansOf(list: string, table: string, options?: PlansOptions): Promise<void> {
    const watch = watchStatements(engine.database);
    try {
      await read[list]?.(table);
      await expectPlans(watch, options);
    } finally {
      watch.stop();
    }
  }

  describe.each(SIZES)("over %i rows", (size) => {
    it.each(Object.keys(read))("accepts %s with its indexes", async (list) => {
      await expect(plansOf(list, `books_${size}`)).resolves.toBeUndefined();
    });

    it.each([
      ["a route", "GET /books", "year, id"],
      ["a nullable column", "GET /ranked", "rank, id"],
      ["a mixed order", "GET /mixed", "year, id desc"],
      ["pages by offset", "GET /pages", "title, id"],
      ["a sortable connection", "Query.books", "title, id"],
      ["a nested connection", "Author.books", "author_id, year, id"],
      ["a filter", "GET /filtered", "owner, year, id"],
      ["two filters", "GET /filtered", "owner, title, year, id"],
      ["nulls in another place", "GET /unranked", name === "PostgreSQL" ? "rank desc NULLS LAST, id desc" : "rank, id"],
      ["a rule", "GET /own", "owner, year, id desc"],
    ])("names the index that %s needs", async (list, place, columns) => {
      const table = `bare_${size}`;
      const failure = await plansOf(list, table).then(
        () => "no failure",
        (error: Error) => error.message,
      );

      const line = failure.split("\n").find((text) => text.includes(index(table, columns)));
      expect(line, failure).toMatch(new RegExp(`^${place} (?:sorts|reads) `));
    });
  });

  it("names each missing index once, with the order and the page", async () => {
    const failure = await plansOf("a sortable connection", "bare_20").catch((error: Error) => error.message);
    const lines = String(failure)
      .split("\n")
      .filter((line) => line.startsWith("Query.books"));

    expect(lines).toEqual(
      ["year", "title", "rank"].map((column) => {
        const order = column === "year" ? "year, id" : `${column}, id`;
        return `Query.books sorts the table bare_20 (first page, forward, ordered by ${order}): ${index("bare_20", `${column}, id`)}`;
      }),
    );
  });

  it("names an index that can be created over a table and columns with reserved names", async () => {
    const [table, column] = [quoted("user"), quoted("order")];
    await sql
      .raw(`create table ${table} (id integer primary key, ${column} integer not null)`)
      .execute(engine.database);
    await sql.raw(`insert into ${table} values (1, 1)`).execute(engine.database);
    const byOrder = new CursorPagination({ order: [["order", "asc"]] });
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    app.get("/users", ({ response }) =>
      response.apaginate(tableHandler(engine.database.selectFrom("user").selectAll()), { strategy: byOrder }),
    );
    using watch = watchStatements(engine.database);
    await testClient(app).get("/users");
    const failure = await expectPlans(watch).catch((error: Error) => error.message);

    await sql.raw(/CREATE INDEX .*/.exec(String(failure))?.[0] ?? "").execute(engine.database);

    await expect(expectPlans(watch)).resolves.toBeUndefined();
  });

  it("says that the deep pages of an empty list were not explained", async () => {
    await expect(plansOf("a route", "books_0")).rejects.toThrow(
      "GET /books: not checked: no rows: the deep pages in the order year, id were not explained",
    );
  });

  it("leaves out the places that are excepted, and refuses to prove nothing", async () => {
    await expect(plansOf("a route", "bare_20", { except: ["GET /books"] })).rejects.toThrow(
      "expectPlans proves nothing: no list of tableHandler was read since the watch started",
    );
    await expect(plansOf("a route", "bare_20", { except: "GET /books" as never })).rejects.toThrow(
      "expectPlans.except",
    );
  });

  it("names a count that reads rows which a filter leaves out, and no count of all rows", async () => {
    const lines = async (target: string, table: string): Promise<readonly string[]> => {
      const watch = watchStatements(engine.database);
      await open(table).get(target);
      const failure = await expectPlans(watch).then(
        () => "",
        (error: Error) => error.message,
      );
      watch.stop();
      return failure.split("\n").filter((line) => line.includes("to count its rows"));
    };

    expect(await lines("/counted?owner=ann&page_size=2", "bare_20")).toEqual([
      expect.stringMatching(/^GET \/counted reads (?:the whole table|rows of the table) bare_20 .*to count its rows: /),
    ]);
    expect((await lines("/counted?owner=ann&page_size=2", "bare_20"))[0]).toContain(index("bare_20", "owner"));
    expect(await lines("/counted?owner=ann&page_size=2", "books_20")).toEqual([]);
    expect(await lines("/counted?page_size=2", "bare_20")).toEqual([]);
    // The index of the pages begins with the column.
    expect(await lines("/filtered?owner=ann", "bare_20")).toEqual([]);
  });

  it("explains a list that was read in a transaction which has ended", async () => {
    const watch = watchStatements(engine.database);
    await open("books_20").get("/transaction");
    await expectPlans(watch);
    watch.stop();
  });

  function open(table: string) {
    const database: Kysely<{ readonly authors: AuthorRow; readonly books: BookRow }> = engine.database;
    const rows = () => tableHandler(database.selectFrom(table as "books").selectAll());
    const byYear = new CursorPagination({ order: [["year", "asc"]] });
    const mixed = new CursorPagination({
      order: [
        ["year", "asc"],
        ["id", "desc"],
      ],
    });
    const own = rule<BookRow>({
      name: "book.own",
      allows: (user, book) => book.owner === user.identity,
      where: (user) => isEqual("owner", user.identity),
    });
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    app.get("/books", ({ response }) => response.apaginate(rows(), { strategy: byYear }));
    app.get("/ranked", ({ response }) =>
      response.apaginate(rows(), { strategy: new CursorPagination({ order: [["rank", "asc"]] }) }),
    );
    const filtered = new CursorPagination({
      order: [["year", "asc"]],
      filterable: publicFilters({ owner: { type: "text", by: ["equal"] }, title: { type: "text", by: ["equal"] } }),
      totals: "exact",
    });
    app.get("/filtered", ({ response }) => response.apaginate(rows(), { strategy: filtered }));
    const counted = new PageNumberPagination({ filterable: publicFilters({ owner: { type: "text", by: ["equal"] } }) });
    app.get("/counted", ({ response }) =>
      response.apaginate(
        tableHandler(
          database
            .selectFrom(table as "books")
            .selectAll()
            .orderBy(sql`lower(title)`),
        ),
        { strategy: counted },
      ),
    );
    const unranked = new CursorPagination({ order: [["rank", "desc", "nulls last"]] });
    app.get("/unranked", ({ response }) => response.apaginate(rows(), { strategy: unranked }));
    app.get("/mixed", ({ response }) => response.apaginate(rows(), { strategy: mixed }));
    app.get("/pages", ({ response }) =>
      response.apaginate(
        tableHandler(
          database
            .selectFrom(`${table} as b` as "books as b")
            .selectAll()
            .orderBy("b.title"),
        ),
        {
          strategy: "page_number",
        },
      ),
    );
    const paginated = { strategy: mixed, item: z.object({ id: z.number() }), rule: own };
    app.get("/own", { paginated }, ({ response }) => response.apaginate(rows(), { strategy: mixed }));
    app.get("/transaction", ({ response }) =>
      database
        .transaction()
        .execute((trx) =>
          response.apaginate(tableHandler(trx.selectFrom(table as "books").selectAll()), { strategy: byYear }),
        ),
    );
    const Book: ObjectType<BookRow> = object("Book", { id: t.int });
    const Author: ObjectType<AuthorRow> = object("Author", {
      books: connection(Book, byYear, { parent: { author_id: "id" } })(rows),
    });
    const sortable = new CursorPagination({ order: [["year", "asc"]], sortable: publicColumns("title", "rank") });
    new Graph(
      schema({
        query: {
          books: connection(Book, sortable)(rows),
          authors: connection(
            Author,
            new CursorPagination(),
          )(() => tableHandler(database.selectFrom("authors").selectAll())),
        },
      }),
    ).mount(app);
    return testClient(app);
  }
});
