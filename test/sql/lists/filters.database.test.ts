import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { CompiledQuery, sql } from "kysely";
import { PorticoApp } from "portico";
import { connection, field, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { CursorPagination, PageNumberPagination } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { type TestClient, testClient } from "portico/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTable, type Engine, engineNames, insertRows, openEngine } from "../../../lab/servers/engines.ts";
import { ids, publicColumns, publicFilters, range, SECRET } from "../../pagination/ways.ts";

interface BookRow {
  readonly id: number;
  readonly author_id: number;
  readonly title: string | null;
  readonly price: number | null;
  readonly weight: number | null;
  readonly sold_at: Date | string | null;
}

const STARTS = [
  "Em",
  "em",
  "E",
  "%",
  "_",
  "\\",
  "!",
  "*",
  "?",
  "[",
  "]",
  "^",
  "'",
  '"',
  "é",
  "e\u0301",
  "😀",
  "\\%",
  "a-z",
];
const DAY = 86_400_000;
const START = Date.parse("2026-01-01T00:00:00Z");
const rows: readonly BookRow[] = range(1, 200).map((id) => ({
  id,
  author_id: id % 5,
  title: id % 11 === 0 ? null : `${STARTS[id % STARTS.length]}${STARTS[(id * 7) % STARTS.length]} ${id}`,
  price: id % 7 === 0 ? null : (id * 37) % 50,
  weight: id % 6 === 0 ? null : ((id * 13) % 40) / 4,
  sold_at: id % 4 === 0 ? null : new Date(START + (id % 20) * DAY),
}));
const filterable = publicFilters({
  title: { type: "text", by: ["equal", "in", "prefix", "null"] },
  price: { type: "integer", by: ["equal", "in", "range", "null"] },
  weight: { type: "number", by: ["range", "in"] },
  soldAt: { column: "sold_at", type: "date", by: ["range", "null"] },
  key: { column: "id", type: "id", by: ["equal", "in"] },
});
const byCursor = new CursorPagination({ filterable, sortable: publicColumns("price"), maxPageSize: 1_000 });
const byPage = new PageNumberPagination({ filterable, maxPageSize: 1_000 });

const encoded = encodeURIComponent;
const text = fc.oneof(
  fc.constantFrom(...STARTS),
  fc.constantFrom(...rows.flatMap(({ title }) => (title === null ? [] : [title]))),
  fc.tuple(fc.constantFrom(...STARTS), fc.constantFrom(...STARTS)).map((two) => two.join("")),
  fc.string({ minLength: 1, maxLength: 3, unit: "binary" }).filter((one) => !one.includes("\0") && one.isWellFormed()),
);
const integer = fc.integer({ min: -1, max: 51 });
const decimal = fc.integer({ min: -1, max: 44 }).map((quarter) => quarter / 4);
const time = fc.integer({ min: -1, max: 21 }).map((day) => new Date(START + day * DAY).toISOString());
const comparison = fc.constantFrom("gt", "gte", "lt", "lte");
const word = (name: string, values: fc.Arbitrary<unknown>) => values.map((value) => [name, String(value)] as const);
const term = fc.oneof(
  word("title", text),
  word("title.startsWith", text),
  word(
    "title.in",
    fc.array(
      text.filter((one) => !one.includes(",")),
      { minLength: 1, maxLength: 5 },
    ),
  ),
  word("title.isNull", fc.boolean()),
  word("price", integer),
  word("price.in", fc.array(integer, { minLength: 1, maxLength: 6 })),
  word("price.isNull", fc.boolean()),
  fc.tuple(comparison, integer).map(([one, value]) => [`price.${one}`, String(value)] as const),
  word("weight.in", fc.array(decimal, { minLength: 1, maxLength: 6 })),
  fc.tuple(comparison, decimal).map(([one, value]) => [`weight.${one}`, String(value)] as const),
  fc.tuple(comparison, time).map(([one, value]) => [`soldAt.${one}`, value] as const),
  word("soldAt.isNull", fc.boolean()),
  word("key", fc.integer({ min: 0, max: 210 })),
  word("key.in", fc.array(fc.integer({ min: 0, max: 210 }), { minLength: 1, maxLength: 6 })),
);
const queries = fc
  .array(term, { minLength: 1, maxLength: 3 })
  .map((terms) => [...new Map(terms)].map(([name, value]) => `${name}=${encoded(value)}`).join("&"));

describe.each(engineNames)("filters on %s", (name) => {
  let engine: Engine;
  let client: TestClient;
  let app: PorticoApp;
  beforeAll(async () => {
    engine = await openEngine(name, `portico_filters_${randomUUID().slice(0, 8)}`);
    await createTable(
      engine,
      "books",
      { id: "key", author_id: "int", title: "text?", price: "int?", weight: "real?", sold_at: "time?" },
      ["title, id", "author_id, id"],
    );
    const stored = (time: BookRow["sold_at"]) =>
      time instanceof Date && name === "SQLite" ? time.toISOString() : time;
    await insertRows(
      engine,
      "books",
      rows.map((row) => ({ ...row, sold_at: stored(row.sold_at) })),
    );
    const books = () => tableHandler(engine.database.selectFrom("books").selectAll() as never) as never;
    const Book: ObjectType<BookRow> = object("Book", { id: t.int });
    const Author: ObjectType<{ readonly id: number }> = object("Author", {
      id: t.int,
      books: connection(Book, byCursor, { parent: { author_id: "id" } })(books),
    });
    const authors = range(0, 4).map((id) => ({ id }));
    app = new PorticoApp({ logger: false, cursorKeys: [SECRET] })
      .get("/cursor", ({ response }) => response.apaginate<BookRow, typeof byCursor>(books(), { strategy: byCursor }))
      .get("/page", ({ response }) => response.apaginate<BookRow, typeof byPage>(books(), { strategy: byPage }))
      .get("/memory", ({ response }) => response.paginate(rows, { strategy: byCursor }));
    new Graph(
      schema({
        query: {
          books: connection(Book, byCursor)(books),
          authors: connection(Author, new CursorPagination())(() => authors),
        },
      }),
    ).mount(app);
    client = testClient(app);
    await client.get("/cursor");
  });
  afterAll(async () => {
    await app?.close();
    await engine?.close();
  });
  beforeEach(() => void (engine.statements.length = 0));

  it("select the same rows as in memory", async () => {
    await fc.assert(
      fc.asyncProperty(queries, async (query) => {
        const [memory, cursor, page] = await Promise.all(
          ["/memory", "/cursor", "/page"].map((path) => client.get(`${path}?page_size=1000&${query}`)),
        );

        expect(memory?.status).toBe(200);
        expect(ids(cursor?.json() as never)).toEqual(ids(memory?.json() as never));
        expect(page?.json()).toMatchObject({ pagination: { total_items: ids(memory?.json() as never).length } });
      }),
      { numRuns: 150 },
    );
  });

  // An index of MariaDB that is read for `like 'x%'` lacks these in some collations.
  it.each(["\u{1f600}", "\u{10ffff}", "\uffff", "\t", "\u0001", " "])("find a prefix before %j", async (next) => {
    const added = { id: 1_000, author_id: 1, title: `Qx${next}y`, price: 1, weight: 1, sold_at: null };
    await insertRows(engine, "books", [added]);
    try {
      for (const path of ["/cursor", "/page"])
        expect(ids((await client.get(`${path}?title.startsWith=Qx`)).json() as never)).toEqual([1_000]);
      expect((await client.get("/page?title.startsWith=Qx")).json()).toMatchObject({ pagination: { total_items: 1 } });
    } finally {
      await engine.database.deleteFrom("books").where("id", "=", 1_000).execute();
    }
  });

  it("reach every filtered row once, forward and backward, in the order that the client chose", async () => {
    const query = "title.isNull=false&price.gte=5&sort=-price&page_size=7";
    const expected = ids((await client.get(`/memory?${query.replace("=7", "=1000")}`)).json() as never);

    for (const way of ["next", "prev"] as const) {
      const seen: unknown[] = [];
      let path: string | undefined = `/cursor?${query}`;
      if (way === "prev") {
        const { data } = await client.graphql<any>(
          "{ books(last: 1, sort: [PRICE_DESC], filter: { title: { isNull: false }, price: { gte: 5 } }) { nodes { id } pageInfo { endCursor } } }",
        );
        seen.unshift(data.books.nodes[0].id);
        const before = await client.graphql<any>(
          "query ($before: String) { books(last: 500, before: $before, sort: [PRICE_DESC], filter: { title: { isNull: false }, price: { gte: 5 } }) { nodes { id } } }",
          { before: data.books.pageInfo.endCursor },
        );
        seen.unshift(...ids({ items: before.data.books.nodes }));
        path = undefined;
      }
      while (path !== undefined) {
        const body = (await client.get(path)).json() as any;
        seen.push(...ids(body));
        path = body.pagination.links.next?.replace(/^https?:\/\/[^/]+/, "");
      }
      expect(seen).toEqual(expected);
    }
  });

  it("by prefix use an index", async () => {
    await sql
      .raw("create table many (id integer primary key, title varchar(50) not null, price integer)")
      .execute(engine.database);
    await insertRows(
      engine,
      "many",
      range(1, 4_000).map((id) => ({ id, title: `${id * 7919} %`, price: id })),
    );
    // The usual collation of PostgreSQL needs this operator class.
    const pattern = name === "PostgreSQL" ? " varchar_pattern_ops" : "";
    await sql.raw(`create index many_title on many (title${pattern})`).execute(engine.database);
    if (name !== "SQLite")
      await sql.raw(name === "PostgreSQL" ? "analyze many" : "analyze table many").execute(engine.database);
    const strategy = new PageNumberPagination({
      filterable: { title: { type: "text", by: ["prefix"], public: true } },
      totals: { capped: 9 },
    });
    const own = new PorticoApp({ logger: false }).get("/many", ({ response }) =>
      response.apaginate(
        tableHandler(engine.database.selectFrom("many").select(["id", "title"])) as never,
        { strategy } as never,
      ),
    );
    engine.statements.length = 0;
    const answer = await testClient(own).get("/many?title.startsWith=791");
    const statement = engine.statements.find(({ sql: sent }) => /like|glob/.test(sent) && sent.includes("title"));

    const how = name === "SQLite" ? "explain query plan" : "explain";
    const plan = await engine.database.executeQuery(
      CompiledQuery.raw(`${how} ${statement?.sql}`, [...(statement?.parameters ?? [])]),
    );
    await own.close();

    expect(answer.status).toBe(200);
    const used = {
      PostgreSQL: /Index Cond: .*~>=~/,
      MariaDB: /"range".*many_title|many_title.*"range"/,
      SQLite: /INDEX many_title \(title>\? AND title<\?\)/,
    };
    expect(JSON.stringify(plan.rows)).toMatch(used[name]);
  });

  it("are part of one statement for all parents, and of one more for each other filter", async () => {
    const document = `{ authors { nodes { id
      low: books(first: 5, filter: { price: { lt: 20 } }) { nodes { id } pageInfo { endCursor } }
      same: books(first: 5, filter: { price: { lt: 20 } }) { nodes { id } }
      high: books(first: 5, filter: { price: { gte: 40 }, title: { isNull: false } }) { nodes { id } totalCount }
    } } }`;
    await client.graphql(document);
    engine.statements.length = 0;

    const { data, errors } = await client.graphql<any>(document);

    expect(errors).toBeUndefined();
    // The lists of low and same are one, those of high are another, and its totals one more.
    expect(engine.statements).toHaveLength(3);
    for (const author of data.authors.nodes) {
      const own = rows.filter(({ author_id }) => author_id === author.id);
      const low = own.filter(({ price }) => price !== null && price < 20).map(({ id }) => id);
      const high = own
        .filter(({ price, title }) => price !== null && price >= 40 && title !== null)
        .map(({ id }) => id);
      expect(ids({ items: author.low.nodes })).toEqual(low.slice(0, 5));
      expect(ids({ items: author.same.nodes })).toEqual(low.slice(0, 5));
      expect(ids({ items: author.high.nodes })).toEqual(high.slice(0, 5));
      expect(author.high.totalCount).toBe(high.length);
    }
    const after = data.authors.nodes[1].low.pageInfo.endCursor;
    const again = await client.graphql<any>(
      `query ($after: String) { authors(first: 2) { nodes { books(first: 5, after: $after, filter: { price: { lt: 19 } }) { nodes { id } } } } }`,
      { after },
    );
    expect(again.errors).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
  });
});

describe("a filter value that does not fit its column", () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine("PostgreSQL", `portico_misfits_${randomUUID().slice(0, 8)}`);
    await sql.raw("create table things (id uuid primary key, size smallint not null)").execute(engine.database);
  });
  afterAll(() => engine?.close());

  it("is a 400 on routes, and an error of the field in connections", async () => {
    interface Thing {
      readonly id: string;
      readonly size: number;
    }
    const strategy = new CursorPagination({
      filterable: publicFilters({ id: { type: "id", by: ["equal", "in"] }, size: { type: "integer", by: ["range"] } }),
    });
    const things = () => tableHandler(engine.database.selectFrom("things").selectAll() as never) as never;
    const ThingType: ObjectType<Thing> = object("Thing", { id: t.id });
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] }).get("/things", ({ response }) =>
      response.apaginate<Thing, typeof strategy>(things(), { strategy }),
    );
    const Parent: ObjectType<{ readonly id: number }> = object("Parent", {
      things: connection(ThingType, strategy, { parent: { size: "id" } })(things),
    });
    const parents = field(t.list(Parent), { listSize: 50 })(() => range(1, 50).map((id) => ({ id })));
    new Graph(schema({ query: { things: connection(ThingType, strategy)(things), parents } })).mount(app);
    const client = testClient(app);

    for (const [query, parameter] of [
      ["id=x", "id"],
      ["id.in=x,y", "id.in"],
    ])
      expect((await client.get(`/things?${query}`)).json()).toMatchObject({
        status: 400,
        code: "invalid_filter",
        parameter,
        detail: `a value of ${parameter} is not valid for its column`,
      });
    // No number is too large to be a bound.
    expect((await client.get("/things?size.gt=99999")).json()).toMatchObject({ items: [] });
    for (const selected of ["nodes { id }", "totalCount"])
      expect(await client.graphql(`{ things(filter: { id: { equal: "x" } }) { ${selected} } }`)).toMatchObject({
        errors: [
          { extensions: { code: "BAD_USER_INPUT" }, message: "a value of filter.id.equal is not valid for its column" },
        ],
      });
    const nested = '{ parents { things(filter: { id: { equal: "x" } }) { nodes { id } } } }';
    await client.graphql(nested);
    engine.statements.length = 0;
    expect(await client.graphql(nested)).toMatchObject({ errors: [{ extensions: { code: "BAD_USER_INPUT" } }] });
    // All parents fail with one statement, and one more tells that their filter is the reason.
    expect(engine.statements).toHaveLength(2);
    await app.close();
  });
});
