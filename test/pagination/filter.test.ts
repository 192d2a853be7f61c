import { ConfigurationError } from "portico";
import {
  AsyncListDataHandler,
  type CursorMetadata,
  CursorPagination,
  InvalidFilterError,
  LimitOffsetPagination,
  type PageNumberMetadata,
  PageNumberPagination,
  PaginationError,
  SyncDataHandler,
  SyncListDataHandler,
} from "portico/pagination";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { bodyOf, bothWays, ids, publicFilters, range, type Serve, serveOnce, target } from "./ways.ts";

interface Book {
  readonly id: number;
  readonly genre: string;
  readonly price_cents: number;
  readonly title: string | null;
  readonly deleted_at: Date | null;
  readonly is_new: boolean;
}

const DAY = 86_400_000;
const START = Date.parse("2026-01-01T00:00:00Z");
const books: readonly Book[] = range(1, 30).map((id) => ({
  id,
  genre: ["novel", "poetry", "history"][id % 3] as string,
  price_cents: id * 100,
  title: id % 7 === 0 ? null : `${["Emma", "Em%ma", "emma", "E"][id % 4]} ${id}`,
  deleted_at: id % 5 === 0 ? new Date(START + id * DAY) : null,
  is_new: id > 20,
}));
const filterable = publicFilters({
  genre: { type: ["novel", "poetry", "history"], by: ["equal", "in"] },
  price: { column: "price_cents", type: "integer", by: ["range", "equal", "in"] },
  title: { type: "text", by: ["prefix", "equal", "in", "null"] },
  deletedAt: { column: "deleted_at", type: "date", by: ["null", "range"] },
  isNew: { column: "is_new", type: "boolean", by: ["equal"] },
  weight: { column: "price_cents", type: "number", by: ["range"] },
  key: { column: "id", type: "id", by: ["equal", "in"] },
});
const byCursor = new CursorPagination({
  order: [["id", "asc"]],
  sortable: { price: { column: "price_cents", public: true } },
  filterable,
});
const byPage = new PageNumberPagination({ filterable, defaultPageSize: 4 });
const byOffset = new LimitOffsetPagination({ filterable, defaultLimit: 100 });

const open = (serve: Serve) =>
  serve((app) =>
    app
      .get("/cursor", ({ response }) => response.paginate(books, { strategy: byCursor }))
      .get("/page", ({ response }) => response.paginate(books, { strategy: byPage }))
      .get("/later", ({ response }) => response.paginate(new AsyncListDataHandler(books), { strategy: byPage }))
      .get("/offset", ({ response }) => response.paginate(books, { strategy: byOffset })),
  );
const idsWhere = (test: (book: Book) => boolean): number[] => books.filter(test).map(({ id }) => id);

bothWays("the filters of a list", (serve) => {
  const matches: readonly (readonly [query: string, (book: Book) => boolean])[] = [
    ["genre=poetry", ({ genre }) => genre === "poetry"],
    ["genre.in=poetry,novel", ({ genre }) => genre !== "history"],
    ["genre.in=poetry", ({ genre }) => genre === "poetry"],
    ["price.gt=500", ({ price_cents }) => price_cents > 500],
    ["price.gte=500&price.lt=1000", ({ price_cents }) => price_cents >= 500 && price_cents < 1000],
    ["price.lte=500", ({ price_cents }) => price_cents <= 500],
    ["price=700", ({ price_cents }) => price_cents === 700],
    ["price.in=700,800,700", ({ price_cents }) => price_cents === 700 || price_cents === 800],
    ["weight.gt=1e2&weight.lt=450.5", ({ price_cents }) => price_cents > 100 && price_cents < 450.5],
    ["title.startsWith=Em", ({ title }) => title?.startsWith("Em") ?? false],
    ["title.startsWith=Em%25", ({ title }) => title?.startsWith("Em%") ?? false],
    ["title=emma+2", ({ title }) => title === "emma 2"],
    ["title.isNull=true", ({ title }) => title === null],
    ["title.isNull=false", ({ title }) => title !== null],
    ["deletedAt.gte=2026-01-11T00:00:00Z", ({ id }) => id % 5 === 0 && id >= 10],
    ["deletedAt.lt=2026-01-11T02:00:00%2B02:00", ({ id }) => id % 5 === 0 && id < 10],
    ["isNew=true&genre=novel", ({ genre, is_new }) => is_new && genre === "novel"],
    ["isNew=false", ({ is_new }) => !is_new],
    ["key=7", ({ id }) => id === 7],
    ["key.in=7,x,8", ({ id }) => id === 7 || id === 8],
    ["other=1", () => true],
  ];
  it.each(matches)("%s selects its items, with every strategy", async (query, test) => {
    const client = await open(serve);
    const expected = idsWhere(test);

    expect(ids(bodyOf(await client.get(`/cursor?page_size=100&${query}`)))).toEqual(expected);
    expect(ids(bodyOf(await client.get(`/offset?${query}`)))).toEqual(expected);
    expect(bodyOf<PageNumberMetadata>(await client.get(`/page?${query}`)).pagination.total_items).toBe(expected.length);
    expect(ids(bodyOf(await client.get(`/later?${query}`)))).toEqual(expected.slice(0, 4));
  });

  const every =
    "genre, genre.in, price, price.in, price.gt, price.gte, price.lt, price.lte, title, title.in, title.startsWith, title.isNull";
  it.each([
    ["genre=gossip", "genre", "genre accepts only novel, poetry, history"],
    ["genre=", "genre", "genre accepts only novel"],
    ["genre.in=novel,", "genre.in", "genre.in accepts only novel"],
    ["genre.in=", "genre.in", "genre.in is empty"],
    ["genre=novel&genre=poetry", "genre", "genre was given more than once"],
    ["genre.startsWith=n", "genre.startsWith", "the filters by genre are genre, genre.in"],
    ["genre.constructor=n", "genre.constructor", "the filters by genre are genre, genre.in"],
    ["price.gte.x=1", "price.gte.x", "the filters by price are price, price.in, price.gt, price.gte"],
    ["deletedAt=2026-01-11T00:00:00Z", "deletedAt", "the filters by deletedAt are deletedAt.gt, deletedAt.gte"],
    ["rating.gt=1", "rating.gt", `the filters of this list are ${every}`],
    ["price_cents.gt=1", "price_cents.gt", "the filters of this list are genre, genre.in"],
    ["toString.gt=1", "toString.gt", "the filters of this list are genre"],
    [".=1", ".", "the filters of this list are genre"],
    ["%3Cb%3E.gt=1", "filter", "the filters of this list are genre"],
    [`${"x".repeat(101)}.gt=1`, "filter", "the filters of this list are genre"],
    ["price=1.5", "price", "price must be an integer"],
    ["price=01", "price", "price must be an integer"],
    ["price=9007199254740993", "price", "price must be an integer"],
    ["price=%20", "price", "price must be an integer"],
    ["price.in=1,x", "price.in", "price.in must be an integer"],
    ["weight.gt=NaN", "weight.gt", "weight.gt must be a number"],
    ["weight.gt=1e999", "weight.gt", "weight.gt must be a number"],
    ["weight.gt=0x10", "weight.gt", "weight.gt must be a number"],
    [`weight.gt=1.${"0".repeat(39)}`, "weight.gt", "weight.gt must be a number"],
    ["isNew=1", "isNew", "isNew must be true or false"],
    ["title.isNull=", "title.isNull", "title.isNull must be true or false"],
    ["title.startsWith=", "title.startsWith", "title.startsWith is empty"],
    ["title=%00", "title", "title contains invalid characters"],
    [`title=${"x".repeat(201)}`, "title", "title accepts at most 200 characters"],
    [`title.in=a,${"x".repeat(201)}`, "title.in", "title.in accepts at most 200 characters"],
    [`price.in=${range(1, 101).join(",")}`, "price.in", "price.in accepts at most 100 values"],
    ["key=", "key", "key is empty"],
    ["deletedAt.gt=2026-01-11", "deletedAt.gt", "deletedAt.gt must be RFC 3339 text with an offset"],
    ["deletedAt.gt=2026-02-30T00:00:00Z", "deletedAt.gt", "deletedAt.gt must be RFC 3339 text with an offset"],
  ])("%s is a 400 that names %s", async (query, parameter, detail) => {
    const client = await open(serve);

    for (const path of ["/cursor", "/page", "/offset"])
      expect((await client.get(`${path}?${query}`)).json()).toMatchObject({
        status: 400,
        code: "invalid_filter",
        parameter,
        detail: expect.stringContaining(detail),
      });
  });

  it("accept 100 values, texts of 200 characters and numbers of 40", async () => {
    const client = await open(serve);

    expect(ids(bodyOf(await client.get(`/offset?weight.lt=101.${"0".repeat(36)}`)))).toEqual([1]);

    expect(ids(bodyOf(await client.get(`/offset?price.in=${range(1, 100).join(",")}`)))).toEqual([1]);
    expect((await client.get(`/offset?title=${"x".repeat(200)}`)).status).toBe(200);
  });

  it("stay in the links, and bind the cursors", async () => {
    const client = await open(serve);
    const expected = idsWhere(({ genre, price_cents }) => genre === "novel" && price_cents > 300).reverse();

    const seen: unknown[] = [];
    let link: string | undefined = "/cursor?genre=novel&price.gt=300&sort=-price&page_size=4";
    while (link !== undefined) {
      const body: ReturnType<typeof bodyOf<CursorMetadata>> = bodyOf<CursorMetadata>(await client.get(link));
      seen.push(...ids(body));
      link = body.pagination.links.next && target(body.pagination.links.next);
    }
    expect(seen).toEqual(expected);

    const { next_cursor } = bodyOf<CursorMetadata>(
      await client.get("/cursor?genre.in=novel,poetry&page_size=2"),
    ).pagination;
    expect((await client.get(`/cursor?genre.in=poetry,novel,novel&cursor=${next_cursor}`)).status).toBe(200);
    for (const other of [
      "",
      "genre.in=novel",
      "genre=novel",
      "genre.in=novel,history",
      "genre.in=novel,poetry&price.gt=1",
    ])
      expect((await client.get(`/cursor?${other}&cursor=${next_cursor}`)).json()).toMatchObject({
        code: "cursor_mismatch",
      });
  });
});

describe("a filterable strategy", () => {
  it("describes its filters in the OpenAPI document, and a query schema need not repeat them", async () => {
    const client = await serveOnce((app) =>
      app.get(
        "/books",
        {
          paginated: { strategy: byCursor, item: z.object({ id: z.number() }) },
          query: z.strictObject({ q: z.string() }),
        },
        ({ response }) => response.paginate(books, { strategy: byCursor }),
      ),
    );
    expect(ids(bodyOf(await client.get("/books?q=x&price=700&genre.in=novel,poetry")))).toEqual([7]);

    const { parameters } = byCursor.describe();
    const schemaOf = (name: string) => parameters.find((one) => one.name === name)?.schema;

    expect(schemaOf("genre")).toEqual({ type: "string", enum: ["novel", "poetry", "history"] });
    expect(schemaOf("genre.in")).toMatchObject({ type: "array", maxItems: 100 });
    expect(schemaOf("title")).toEqual({ type: "string", maxLength: 200 });
    expect(schemaOf("key")).toEqual({ type: "string", minLength: 1, maxLength: 200 });
    expect(schemaOf("isNew")).toEqual({ type: "boolean" });
    expect(schemaOf("weight.gt")).toEqual({ type: "number" });
    expect(schemaOf("price.gte")).toEqual({ type: "integer" });
    expect(schemaOf("title.startsWith")).toEqual({ type: "string", minLength: 1, maxLength: 200 });
    expect(schemaOf("deletedAt.lt")).toEqual({ type: "string", format: "date-time" });
    expect(schemaOf("deletedAt.isNull")).toEqual({ type: "boolean" });
    expect(schemaOf("sort")).toMatchObject({ items: { enum: ["price", "-price"] } });
    expect(JSON.stringify(parameters)).not.toContain("_cents");
    for (const strategy of [byPage, byOffset])
      expect(strategy.describe().parameters.map(({ name }) => name)).toContain("price.gte");
  });

  it("says what each filter does", () => {
    const sentences = Object.fromEntries(byCursor.describe().parameters.map((one) => [one.name, one.description]));

    expect(sentences).toMatchObject({
      price: "Only items with this price.",
      "price.in": "Only items with one of these values of price.",
      "price.gt": "Only items whose price is greater than this value.",
      "price.gte": "Only items whose price is at least this value.",
      "price.lt": "Only items whose price is less than this value.",
      "price.lte": "Only items whose price is at most this value.",
      "title.startsWith": "Only items whose title begins with this text.",
      "title.isNull": "Only items without title if true, only items with title if false.",
    });
  });

  it("may have names of 64 characters", () => {
    const filters = (length: number) => ({
      ["n".repeat(length)]: { column: "id", type: "id", by: ["equal"] } as const,
    });

    expect(new PageNumberPagination({ filterable: filters(64) }).describe().parameters).toContainEqual(
      expect.objectContaining({ name: "n".repeat(64) }),
    );
    expect(() => new PageNumberPagination({ filterable: filters(65) })).toThrow("must be the name of a filter");
  });

  it("throws an error that can be handled by its class", async () => {
    const client = await serveOnce((app) =>
      app
        .addExceptionHandler(InvalidFilterError, (_request, response, exc) =>
          response.status(400).json({ isOne: exc instanceof PaginationError }),
        )
        .get("/books", ({ response }) => response.paginate(books, { strategy: byPage })),
    );

    expect((await client.get("/books?genre=x")).json()).toEqual({ isOne: true });
  });

  it("names a data handler that cannot filter, whether or not the request has filters", async () => {
    class Plain extends SyncDataHandler<Book> {
      getTotalItems(): number {
        return 0;
      }
      getItems(): readonly Book[] {
        return [];
      }
    }
    const client = await serveOnce((app) =>
      app
        .addExceptionHandler(ConfigurationError, (_request, response, exc) => response.status(500).text(exc.message))
        .get("/books", ({ response }) => response.paginate(new Plain(), { strategy: byPage })),
    );

    for (const query of ["", "?genre=novel"])
      expect((await client.get(`/books${query}`)).text()).toContain("Plain has no scopedTo");
  });

  it.each([
    [{ filterable: {} }, "filterable must be an object from names to filters"],
    [{ filterable: [] }, "filterable must be an object from names to filters"],
    [{ filterable: [{ type: "text", by: ["equal"] }] }, "filterable must be an object from names to filters"],
    [{ filterable: "text" }, "filterable must be an object from names to filters"],
    [{ filterable: null }, "filterable must be an object from names to filters"],
    [{ filterable: { "a.b": { type: "text", by: ["equal"] } } }, "filterable.a.b must be the name of a filter"],
    [{ filterable: { genre: "text" } }, "filterable.genre must be an object such as"],
    [{ filterable: { genre: { type: "word", by: ["equal"] } } }, "filterable.genre.type must be text, integer"],
    [{ filterable: { genre: { type: [], by: ["equal"] } } }, "filterable.genre.type must be text, integer"],
    [{ filterable: { genre: { type: ["a,b"], by: ["equal"] } } }, "filterable.genre.type must be text, integer"],
    [{ filterable: { genre: { type: ["a", "b,c"], by: ["equal"] } } }, "filterable.genre.type must be text, integer"],
    [{ filterable: { genre: { type: ["a", 1], by: ["equal"] } } }, "filterable.genre.type must be text, integer"],
    [{ filterable: { genre: { type: ["a", "a"], by: ["equal"] } } }, "filterable.genre.type must be text, integer"],
    [
      { filterable: { genre: { type: "text", by: ["equal", "range"] } } },
      "filterable.genre.by must be a list of equal",
    ],
    [{ filterable: { genre: { type: "text", by: [] } } }, "filterable.genre.by must be a list of equal, in, prefix"],
    [{ filterable: { genre: { type: "text", by: ["range"] } } }, "filterable.genre.by must be a list of equal, in"],
    [{ filterable: { at: { type: "date", by: ["equal"] } } }, "filterable.at.by must be a list of range, null"],
    [{ filterable: { genre: { type: "text", by: ["equal"], of: 1 } } }, 'filterable.genre: unknown option "of"'],
    [{ filterable: { genre: { type: "text", by: ["equal"], column: "a.b" } } }, "filterable.genre.column must be"],
    [{ filterable: { genre: { type: "text", by: ["equal"], public: false } } }, "filterable.genre.public must be true"],
    [
      { filterable: { page_size: { type: "text", by: ["equal"] } } },
      "filterable.page_size must be a name that no other",
    ],
    [
      { filterable: { genre: { type: "text", by: ["in"] } }, omitFromLinks: ["genre.in"] },
      'omitFromLinks must not contain "genre.in"',
    ],
  ])("does not accept %j", (options, message) => {
    for (const strategy of [PageNumberPagination, CursorPagination])
      expect(() => new (strategy as new (options: object) => object)(options)).toThrow(`${strategy.name}.${message}`);
  });

  it("can be chosen by name, where each filter names its column", async () => {
    const client = await serveOnce((app) =>
      app.get("/books", ({ response }) =>
        response.paginate(new SyncListDataHandler(books), {
          strategy: "cursor",
          filterable: { price: { column: "price_cents", type: "integer", by: ["equal"], public: true } },
        }),
      ),
    );

    expect(ids(bodyOf(await client.get("/books?price=300")))).toEqual([3]);
  });
});
