import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { and, asc, desc, eq, gt, sql } from "drizzle-orm";
import { isEqual, isIn, PorticoApp } from "portico";
import { drizzleHandler } from "portico/drizzle";
import { connection, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { CursorPagination, PageNumberPagination } from "portico/pagination";
import { type TableHandler, totalsCache } from "portico/sql";
import { logCatcher, type TestClient, testClient } from "portico/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AnyTable, type DrizzleDatabase, openDrizzle, tableOf } from "../../lab/servers/drizzle-databases.ts";
import {
  type ColumnType,
  createTable,
  type Engine,
  engineNames,
  insertRows,
  openEngine,
} from "../../lab/servers/engines.ts";
import { bodyOf, ids, publicColumns, publicFilters, range, SECRET, thereAndBack } from "../pagination/ways.ts";

const bookColumns: Readonly<Record<string, ColumnType>> = {
  id: "key",
  title: "text",
  author_id: "int?",
  created_at: "time",
  price: "decimal?",
};
/** `name` is another column than `title`, and the column `title` has another property. */
const properties = { title: "name", author_id: "authorId", created_at: "createdAt" };
const authorColumns: Readonly<Record<string, ColumnType>> = { id: "key", name: "text" };

type Handler = TableHandler<any, any>;

describe.each(engineNames)("a list of a Drizzle query on %s", (name) => {
  let engine: Engine;
  let drizzle: DrizzleDatabase;
  let books: AnyTable;
  let authors: AnyTable;
  const time = (id: number): string => `2024-03-01 10:00:00.${String(100_000 + Math.floor(id / 2)).padStart(6, "0")}`;
  beforeAll(async () => {
    const place = `portico_drizzle_${randomUUID().slice(0, 8)}`;
    engine = await openEngine(name, place, join(tmpdir(), `${place}.sqlite`));
    await createTable(engine, "books", bookColumns, ["author_id, created_at, id"]);
    await createTable(engine, "authors", authorColumns);
    await insertRows(
      engine,
      "books",
      range(1, 40).map((id) => ({
        id,
        title: `Book ${id}`,
        author_id: id % 5 === 0 ? null : id % 5,
        created_at: name === "PostgreSQL" ? `${time(id)}+00` : time(id),
        price: id % 2 === 0 ? null : id / 4,
      })),
    );
    await insertRows(
      engine,
      "authors",
      range(1, 3).map((id) => ({ id, name: `Author ${id}` })),
    );
    books = tableOf(name, "books", bookColumns, properties);
    authors = tableOf(name, "authors", authorColumns);
    drizzle = openDrizzle(engine);
  });
  afterAll(async () => {
    await drizzle?.close();
    await engine?.close();
  });
  beforeEach(() => void (drizzle.statements.length = 0));

  const column = (property: string): never => books[property] as never;
  const select = (fields?: object) =>
    fields === undefined ? drizzle.db.select().from(books) : drizzle.db.select(fields as never).from(books);
  const handler = (query: unknown, options?: object): Handler =>
    drizzleHandler(query as never, options as never) as never;
  const serve = (list: () => unknown, strategy: unknown): TestClient => {
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    app.get("/books", ({ response }) => response.apaginate(list() as never, { strategy } as never) as never);
    return testClient(app);
  };

  it("has the rows that Drizzle returns, by their names and with their types", async () => {
    const expected = await select()
      .orderBy(desc(column("id")))
      .limit(3);

    const list = handler(select());
    const seek = { order: [["id", "desc"]], key: null, direction: "forward" } as const;

    expect(await list.getItemsAfter(seek, 3)).toEqual(expected);
    expect(await list.getItems(37, 3, { totalItems: 40 } as never)).toEqual(expected.toReversed());
    expect(Object.keys(expected[0] ?? {})).toEqual(["id", "name", "authorId", "createdAt", "price"]);
    const isDate = (expected[0] as { createdAt?: unknown }).createdAt instanceof Date;
    expect(isDate).toBe(name !== "SQLite");
  });

  it("walks by property names, over ties in microseconds that a Date does not have, both ways", async () => {
    const strategy = new CursorPagination({ order: [["createdAt", "desc"]], defaultPageSize: 3 } as never);
    const client = serve(() => handler(select({ id: column("id") })), strategy);

    const expected = range(1, 40).toSorted((a, b) => Math.floor(b / 2) - Math.floor(a / 2) || b - a);
    expect(await thereAndBack(client, "/books")).toEqual({ forward: expected, backward: expected });
  });

  /** Reads the first three ids of a page, and its metadata. */
  const page = async (query: string) => {
    const strategy = new CursorPagination({
      sortable: publicColumns("name", "createdAt"),
      filterable: publicFilters({
        author: { column: "authorId", type: "integer", by: ["equal", "in", "null"] },
        name: { column: "name", type: "text", by: ["prefix"] },
        ...(name === "SQLite" ? {} : { since: { column: "createdAt", type: "date", by: ["range"] } }),
      }),
      totals: "exact",
    } as never);
    const client = serve(() => handler(select()), strategy);
    const body = bodyOf<{ readonly total_items: number }>(await client.get(`/books?${query}`));
    return [ids(body).slice(0, 3), body.pagination];
  };

  it("sorts, filters and counts by property names", async () => {
    const [sorted] = await page("sort=-name");
    expect(sorted).toEqual([9, 8, 7]);
    const [filtered, pagination] = await page("author.in=1,2&sort=createdAt");
    expect([filtered, Object.values(pagination as object).includes(16)]).toEqual([[1, 2, 6], true]);
    expect((await page("author.isNull=true"))[0]).toEqual([5, 10, 15]);
    expect((await page("name.startsWith=Book%203"))[0]).toEqual([3, 30, 31]);
  });

  it.skipIf(name === "SQLite")("compares dates by the column's type", async () => {
    expect((await page("since.gte=2024-03-01T10:00:00.101Z"))[0]).toEqual([]);
    expect((await page("since.gte=2024-03-01T10:00:00.100Z"))[0]).toEqual([1, 2, 3]);
  });

  it("applies a condition on rows of another table to pages and totals, in addition to its own", async () => {
    const related = isIn("authorId", { from: "authors", column: "id", where: isEqual("name", "Author 2") });

    const found = handler(select()).scopedTo(related);

    expect(await found.getTotalItems()).toBe(8);
    expect(ids({ items: await found.getItems(0, 3) })).toEqual([2, 7, 12]);
    const both = handler(select().where(gt(column("id"), 10))).scopedTo(related);
    expect(ids({ items: await both.getItems(0, 3) })).toEqual([12, 17, 22]);
    const either = handler(select().where(sql`${column("id")} = 1 or ${column("id")} = 2`)).scopedTo(related);
    expect(ids({ items: await either.getItems(0, 3) })).toEqual([2]);
  });

  it("reads nested lists with one statement per level, and counts them with another", async () => {
    const strategy = new CursorPagination({ order: [["createdAt", "asc"]], totals: "exact" } as never);
    const Book: ObjectType<{ readonly id: number }> = object("Book", { id: t.int });
    const Author: ObjectType<{ readonly id: number }> = object("Author", {
      id: t.int,
      books: connection(
        Book,
        strategy as never,
        { parent: { authorId: "id" } } as never,
      )(() => handler(select()) as never),
    });
    const byId = new CursorPagination({ totals: "exact" });
    const query = {
      authors: connection(Author, byId as never)(() => handler(drizzle.db.select().from(authors)) as never),
    };
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    new Graph(schema({ query }), { debug: true }).mount(app);
    const ask = async (text: string): Promise<any> => {
      const response = await testClient(app).post("/graphql", { body: { query: text } });
      expect((response.json() as { errors?: unknown }).errors).toBeUndefined();
      return (response.json() as { data: any }).data;
    };
    const text = "{ authors { nodes { id books(first: 2) { nodes { id } totalCount } } } }";
    // The first page reads the catalogue.
    await ask(text);
    drizzle.statements.length = 0;

    const data = await ask(text);

    expect(data.authors.nodes).toEqual(
      [1, 2, 3].map((id) => ({ id, books: { nodes: [{ id }, { id: id + 5 }], totalCount: 8 } })),
    );
    expect(drizzle.statements).toHaveLength(3);
  });

  it("has the objects of joined tables, and sorts and filters by fields of the first table", async () => {
    const joined = drizzle.db
      .select()
      .from(books)
      .leftJoin(authors, eq(column("authorId"), authors["id"] as never));
    const list = handler(joined).scopedTo(isIn("authorId", [3, 4]));

    const order = [
      ["createdAt", "asc"],
      ["id", "asc"],
    ] as const;
    const rows = (await list.getItemsAfter({ order, key: null, direction: "forward" }, 2)) as any[];

    expect(rows).toMatchObject([
      { books: { id: 3, name: "Book 3", authorId: 3 }, authors: { id: 3, name: "Author 3" } },
      { books: { id: 4, name: "Book 4", authorId: 4 }, authors: null },
    ]);
    expect(await list.getTotalItems()).toBe(16);
  });

  it("sorts and filters by a field of a joined table that is selected, whose nulls are not those of the table", async () => {
    const query = drizzle.db
      .select({ id: column("id"), name: authors["name"] as never } as never)
      .from(books)
      .leftJoin(authors, eq(column("authorId"), authors["id"] as never));
    const strategy = new CursorPagination({ order: [["name", "desc", "nulls last"]], defaultPageSize: 6 } as never);
    const client = serve(() => handler(query), strategy);

    const expected = [
      ...[3, 2, 1].flatMap((author) =>
        range(1, 40)
          .filter((id) => id % 5 === author)
          .toReversed(),
      ),
      ...range(1, 40)
        .filter((id) => id % 5 === 0 || id % 5 === 4)
        .toReversed(),
    ];
    expect(await thereAndBack(client, "/books")).toEqual({ forward: expected, backward: expected });
    expect(await handler(query).scopedTo(isEqual("name", "Author 1")).getTotalItems()).toBe(8);
  });

  it("has computed fields, nested objects and fields of subqueries", async () => {
    const shouted = sql<string>`upper(${column("name")})`.as("shouted");
    const inner = drizzle.db
      .select({ id: column("id"), shouted } as never)
      .from(books)
      .as("inner_books") as any;
    const half = sql<number>`${inner.id} / 2.0`.mapWith(Number);
    const query = drizzle.db
      .select({ id: inner.id, shout: inner.shouted, more: { half, id: inner.id } })
      .from(inner)
      .where(gt(inner.id, 38));
    const order = [
      ["shout", "desc"],
      ["id", "desc"],
    ] as const;

    const rows = await handler(query).getItemsAfter({ order, key: null, direction: "forward" }, 5);

    expect(rows).toEqual([
      { id: 40, shout: "BOOK 40", more: { half: 20, id: 40 } },
      { id: 39, shout: "BOOK 39", more: { half: 19.5, id: 39 } },
    ]);
    const common = drizzle.db.$with("late_books").as(select().where(gt(column("id"), 38)) as never) as any;
    const late = drizzle.db
      .with(common)
      .select({
        id: common.id,
        total: drizzle.db
          .select({ total: sql<number>`count(*)`.mapWith(Number).as("count") })
          .from(authors)
          .as("total"),
      } as never)
      .from(common);
    expect(await handler(late).getItems(0, 5)).toEqual([
      { id: 39, total: 3 },
      { id: 40, total: 3 },
    ]);
    expect(await handler(late).getItemsAfter({ order: [["id", "desc"]], key: null, direction: "forward" }, 1)).toEqual([
      { id: 40, total: 3 },
    ]);
  });

  it("pages through a query with its own order, from either end", async () => {
    const client = serve(
      () => handler(select().orderBy(desc(column("authorId")), asc(column("name")))),
      new PageNumberPagination({ defaultPageSize: 7 }),
    );
    const expected = ids({
      items: (await select().orderBy(desc(column("authorId")), asc(column("name")), asc(column("id")))) as never,
    });

    const pages = await Promise.all(range(1, 6).map((page) => client.get(`/books?page=${page}`)));

    expect(pages.flatMap((page) => ids(bodyOf(page)))).toEqual(expected);
  });

  it("keeps an order that is written in SQL", async () => {
    const query = select().orderBy(sql`${column("authorId")} is null desc, ${column("id")} desc`);

    const rows = await handler(query).getItems(30, 5, { totalItems: 40 } as never);

    expect(ids({ items: rows as never })).toEqual([12, 11, 9, 8, 7]);
  });

  it("pages through groups, and rejects cursors over them", async () => {
    const grouped = drizzle.db
      .select({ id: column("authorId"), total: sql<number>`count(*)`.mapWith(Number) } as never)
      .from(books)
      .groupBy(column("authorId"))
      .having(sql`count(*) > 1`);
    const list = handler(grouped.orderBy(asc(column("authorId"))));

    expect(await list.getTotalItems()).toBe(5);
    expect(await list.getItems(1, 2)).toHaveLength(2);
    await expect(
      handler(grouped).getItemsAfter({ order: [["id", "asc"]], key: null, direction: "forward" }, 2),
    ).rejects.toThrow("drizzleHandler");
  });

  it("reads the rows of some values, and counts through a cache", async () => {
    const cache = totalsCache({ seconds: 60 });
    const list = handler(select(), { among: { authorId: [1, 3] }, totalsCache: cache });

    const rows = await list.getItemsAfter(
      {
        order: [
          ["createdAt", "asc"],
          ["id", "asc"],
        ],
        key: null,
        direction: "forward",
      },
      4,
    );

    expect(ids({ items: rows as never })).toEqual([1, 3, 6, 8]);
    expect([await list.getTotalItems(), await list.getTotalItems()]).toEqual([16, 16]);
    expect(drizzle.statements.filter(({ sql: text }) => text.includes("count(*)"))).toHaveLength(1);
    expect(await handler(select()).estimateTotalItems()).toBeGreaterThan(0);
    expect(await handler(select()).countUpTo(7)).toBe(7);
  });

  it("reads inside the transaction of its query", async () => {
    const rolledBack = drizzle.db.transaction(async (tx) => {
      await tx
        .insert(books)
        .values({ id: 99, name: "New", createdAt: name === "SQLite" ? time(99) : new Date() } as never);
      expect(await handler(tx.select().from(books)).getTotalItems()).toBe(41);
      expect(await handler(tx.select().from(books)).scopedTo(isEqual("name", "New")).getItems(0, 2)).toHaveLength(1);
      throw new Error("undo");
    });

    await expect(rolledBack).rejects.toThrow("undo");
    expect(await handler(select()).getTotalItems()).toBe(40);
  });

  it("keeps apart the conditions of two tables whose properties have other names", async () => {
    const plain = tableOf(name, "books", bookColumns, { ...properties, title: "name", price: "title" });
    const swapped = tableOf(name, "books", bookColumns, { ...properties, title: "title", price: "name" });
    const idsOf = async (table: AnyTable, property: string) =>
      ids({
        items: (await handler(drizzle.db.select({ id: table["id"] } as never).from(table))
          .scopedTo(isEqual(property, "Book 7"))
          .getItems(0, 5)) as never,
      });

    expect(await idsOf(plain, "name")).toEqual([7]);
    expect(await idsOf(swapped, "title")).toEqual([7]);
  });

  it.runIf(name === "PostgreSQL")("rejects a cursor whose values do not fit the columns", async () => {
    const list = handler(select());
    const seek = {
      order: [
        ["createdAt", "asc"],
        ["id", "asc"],
      ],
      key: ["nonsense", "x"],
      direction: "forward",
    } as const;
    await expect(list.getItemsAfter(seek, 2)).rejects.toThrow("does not fit its column");
  });

  it("keeps the driver's error", async () => {
    const broken = handler(select().where(sql`no_such_function(1) = 1`));
    const error = await broken.getTotalItems().then(
      () => null,
      (reason: Error) => reason,
    );
    expect(error?.message).toContain("no_such_function");
    expect(error?.constructor.name).not.toBe("DrizzleQueryError");
  });

  it("logs a statement that a request sends more than ten times", async () => {
    const log = logCatcher();
    const app = new PorticoApp({ logger: log });
    app.get("/repeat", async () => {
      for (const id of range(1, 12)) await handler(select().where(eq(column("id"), id))).getTotalItems();
    });

    await testClient(app).get("/repeat");

    expect(log.text).toContain("GET /repeat has sent the same statement more than 10 times in one request");
  });

  it("stops at a wrong name with an error that names it", async () => {
    expect(() => handler(select(), { uniqueKey: ["nope"] })).toThrow(
      "drizzleHandler: the query has no field nope to break ties: set uniqueKey to fields that identify a row",
    );
    expect(() => handler(select(), { among: { author_id: [1] } })).toThrow(
      "drizzleHandler: the query has no field author_id: use a field of its selection or a property of the table books",
    );
    const list = handler(select());
    const seek = { order: [["created_at", "asc"]], key: null, direction: "forward" } as const;
    await expect(list.getItemsAfter(seek as never, 2)).rejects.toThrow("has no field created_at");
    expect(() => list.scopedTo(isEqual("author_id", 1))).toThrow("has no field author_id");
    expect(() => handler(select().limit(2))).toThrow("drizzleHandler requires a query without LIMIT and OFFSET");
    expect(() =>
      handler(
        drizzle.db
          .select()
          .from(books)
          .unionAll(select() as never),
      ),
    ).toThrow("set operation");
    expect(() => handler(select().where(and(eq(column("id"), sql.placeholder("id")))))).toThrow("placeholders");
    expect(() => handler({})).toThrow("requires a select query of a Drizzle database");
    expect(() => handler(null)).toThrow("requires a select query of a Drizzle database");
  });
});
