import type { Kysely } from "kysely";
import { type Condition, isEqual, isIn, isNull, PorticoApp, type PorticoResponse, type TypedResponse } from "portico";
import {
  AsyncDataHandler,
  AsyncListDataHandler,
  BasePaginationStrategy,
  type CursorMetadata,
  CursorPagination,
  type LimitOffsetMetadata,
  LimitOffsetPagination,
  type Page,
  type PageNumberMetadata,
  PageNumberPagination,
  type QueryParams,
  type Seekable,
  type SeekRequest,
  SyncDataHandler,
  SyncListDataHandler,
  type WalkBatch,
  walk,
} from "portico/pagination";
import { type TableHandler, tableHandler } from "portico/sql";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";

interface BookRow {
  id: string;
  title: string;
  published_at: string;
}
declare const response: PorticoResponse;
declare const rows: readonly BookRow[];
declare const database: Kysely<{ books: BookRow; codes: { code: string } }>;
const books = tableHandler(database.selectFrom("books").selectAll());
const newest = new CursorPagination({
  order: [
    ["published_at", "desc"],
    ["id", "desc"],
  ],
});
type Answer<M> = TypedResponse<Page<BookRow, M>, 200>;

describe("paginate and apaginate", () => {
  it("know items and metadata by the strategy", () => {
    expectTypeOf(newest).toEqualTypeOf<CursorPagination<"published_at" | "id">>();
    const sorted = new CursorPagination({ order: [["published_at", "desc"]], sortable: ["title", "id"] });
    expectTypeOf(sorted).toEqualTypeOf<CursorPagination<"published_at" | "title" | "id">>();
    expectTypeOf(response.apaginate(books, { strategy: sorted })).toEqualTypeOf<Promise<Answer<CursorMetadata>>>();
    expectTypeOf(response.paginate(rows)).toEqualTypeOf<Answer<PageNumberMetadata>>();
    expectTypeOf(response.paginate(rows, { defaultPageSize: 10 })).toEqualTypeOf<Answer<PageNumberMetadata>>();
    expectTypeOf(response.paginate(rows, { strategy: "limit_offset", maxLimit: 50 })).toEqualTypeOf<
      Answer<LimitOffsetMetadata>
    >();
    expectTypeOf(
      response.paginate(rows, { strategy: "cursor", sortField: "title", cursorScope: { genre: "x" } }),
    ).toEqualTypeOf<Answer<CursorMetadata>>();
    expectTypeOf(
      response.paginate(new SyncListDataHandler(rows), { strategy: new LimitOffsetPagination() }),
    ).toEqualTypeOf<Answer<LimitOffsetMetadata>>();
    expectTypeOf(response.apaginate(books, { strategy: newest })).toEqualTypeOf<Promise<Answer<CursorMetadata>>>();
    expectTypeOf(response.apaginate(rows)).toEqualTypeOf<Promise<Answer<PageNumberMetadata>>>();
    expectTypeOf(response.apaginate(new SyncListDataHandler(rows), { strategy: newest })).toEqualTypeOf<
      Promise<Answer<CursorMetadata>>
    >();
    expectTypeOf(response.paginate(books, { strategy: newest })).toEqualTypeOf<Promise<Answer<CursorMetadata>>>();
    expectTypeOf(response.paginate([], { strategy: newest, dataHandler: books })).toEqualTypeOf<
      Promise<Answer<CursorMetadata>>
    >();
    expectTypeOf(response.paginate(null, { dataHandler: new SyncListDataHandler(rows) })).toEqualTypeOf<
      Answer<PageNumberMetadata>
    >();
    expectTypeOf(response.paginate([1], { dataHandler: new SyncListDataHandler(rows) })).toEqualTypeOf<
      Answer<PageNumberMetadata>
    >();
    expectTypeOf(response.apaginate([1], { strategy: newest, dataHandler: books })).toEqualTypeOf<
      Promise<Answer<CursorMetadata>>
    >();
    expectTypeOf(
      response.apaginate(null, { strategy: "cursor", dataHandler: new AsyncListDataHandler(rows) }),
    ).toEqualTypeOf<Promise<Answer<CursorMetadata>>>();
    expectTypeOf(response.apaginate(null, { strategy: newest, dataHandler: books })).toEqualTypeOf<
      Promise<Answer<CursorMetadata>>
    >();
  });

  it("check the columns of API names and filters", () => {
    const named = new CursorPagination({
      sortable: { publishedAt: "published_at" },
      filterable: {
        title: { type: "text", by: ["prefix"] },
        since: { column: "published_at", type: "date", by: ["range"] },
      },
    });
    expectTypeOf(response.apaginate(books, { strategy: named })).toEqualTypeOf<Promise<Answer<CursorMetadata>>>();
    expectTypeOf(response.paginate(rows, { strategy: named })).toEqualTypeOf<Answer<CursorMetadata>>();
    const filtered = new PageNumberPagination({ filterable: { title: { type: ["Emma"], by: ["in", "equal"] } } });
    expectTypeOf(response.paginate(rows, { strategy: filtered })).toEqualTypeOf<Answer<PageNumberMetadata>>();
    response.paginate(rows, {
      strategy: "limit_offset",
      filterable: { since: { column: "published_at", type: "date", by: ["range"] } },
    });
    const byTitle = new CursorPagination({ filterable: { title: { type: "text", by: ["equal"] } } });
    expectTypeOf(response.paginate(rows, { strategy: byTitle })).toEqualTypeOf<Answer<CursorMetadata>>();
    // @ts-expect-error rows have no created_at
    response.paginate(rows, { strategy: new CursorPagination({ sortable: { createdAt: "created_at" } }) });
    response.paginate(rows, {
      // @ts-expect-error nor a column with the name of the filter
      strategy: new CursorPagination({ filterable: { genre: { type: "text", by: ["equal"] } } }),
    });
    response.paginate(rows, {
      // @ts-expect-error the same with pages
      strategy: new PageNumberPagination({ filterable: { at: { column: "created_at", type: "date", by: ["null"] } } }),
    });
    response.paginate(rows, {
      strategy: "page_number",
      // @ts-expect-error the same by name
      filterable: { at: { column: "created_at", type: "date", by: ["null"] } },
    });
    const open = new CursorPagination({ sortable: ["id", { column: "title", public: true }] });
    response.paginate(rows, { strategy: open });
    expectTypeOf(open).toEqualTypeOf<CursorPagination<"id" | "title">>();
    expectTypeOf(
      new CursorPagination({ sortField: "id", sortable: { name: { column: "title", public: true } } }),
    ).toEqualTypeOf<CursorPagination<"id" | "title">>();
    // @ts-expect-error a public column must exist too
    response.paginate(rows, { strategy: new CursorPagination({ sortable: [{ column: "rank", public: true }] }) });
    // @ts-expect-error a column is public or just named
    new CursorPagination({ sortable: [{ column: "title", public: false }] });
    // @ts-expect-error without a word, the name is enough
    new CursorPagination({ sortable: { name: { column: "title" } } });
    // @ts-expect-error only true
    new CursorPagination({ filterable: { title: { type: "text", by: ["equal"], public: false } } });
    const openFilter = new CursorPagination({ filterable: { title: { type: "text", by: ["equal"], public: true } } });
    response.paginate(rows, { strategy: openFilter });
    // @ts-expect-error a text has no range
    const ranged = new CursorPagination({ filterable: { title: { type: "text", by: ["range"] } } });
    // @ts-expect-error unknown type
    const unknown = new CursorPagination({ filterable: { title: { type: "word", by: ["equal"] } } });
    void [ranged, unknown];
  });

  it("take an order by columns of the table that are not selected", () => {
    const titles = tableHandler(database.selectFrom("books").select(["id", "title"]));
    type Titles = Promise<TypedResponse<Page<{ id: string; title: string }, CursorMetadata>, 200>>;
    expectTypeOf(response.apaginate(titles, { strategy: newest })).toEqualTypeOf<Titles>();
    expectTypeOf(response.apaginate(titles, { strategy: "cursor", sortField: "published_at" })).toEqualTypeOf<Titles>();
    expectTypeOf(response.apaginate(null, { strategy: newest, dataHandler: titles })).toEqualTypeOf<Titles>();
    expectTypeOf(titles).toExtend<TableHandler<{ id: string; title: string }>>();
    const joined = database
      .selectFrom("books")
      .innerJoin("codes", "codes.code", "books.id")
      .select(["books.id", "code"]);
    // @ts-expect-error of several tables, only what all of them have
    void response.apaginate(tableHandler(joined, { uniqueKey: ["id"] }), { strategy: newest });
  });

  it("may be among the values of a column of the table", () => {
    tableHandler(database.selectFrom("books").select("id"), { among: { title: ["Emma"] } });
    // @ts-expect-error no such column
    tableHandler(database.selectFrom("books").select("id"), { among: { author: ["Austen"] } });
    // @ts-expect-error a list of values
    tableHandler(database.selectFrom("books").select("id"), { among: { title: "Emma" } });
  });

  it("refuse what cannot work", () => {
    // @ts-expect-error nothing to paginate
    void response.apaginate(null, { strategy: newest });
    // @ts-expect-error neither a list nor nothing
    response.paginate("books", { dataHandler: new SyncListDataHandler(rows) });
    // @ts-expect-error option of another strategy
    response.paginate(rows, { strategy: "page_number", maxLimit: 50 });
    // @ts-expect-error misspelt option
    response.paginate(rows, { strategy: "page_number", maxPagesize: 50 });
    // @ts-expect-error unknown strategy
    response.paginate(rows, { strategy: "pages" });
    // @ts-expect-error rows have no created_at
    response.paginate(rows, { strategy: new CursorPagination({ order: [["created_at", "desc"]] }) });
    // @ts-expect-error the same through a handler
    void response.apaginate(books, { strategy: new CursorPagination({ order: [["created_at", "desc"]] }) });
    // @ts-expect-error the same by name
    response.paginate(rows, { strategy: "cursor", sortField: "created_at" });
    const titles = tableHandler(database.selectFrom("books").select(["id", "title"]));
    // @ts-expect-error neither the items nor the table have it
    void response.apaginate(titles, { strategy: new CursorPagination({ order: [["created_at", "desc"]] }) });
    // @ts-expect-error of a list, only the items are there
    response.paginate([{ id: "", title: "" }], { strategy: newest });
    // @ts-expect-error nor could a client sort by it
    response.paginate(rows, { strategy: new CursorPagination({ order: [["id", "asc"]], sortable: ["created_at"] }) });
    // @ts-expect-error the same by name
    response.paginate(rows, { strategy: "cursor", sortable: ["created_at"] });
  });
});

describe("strategies", () => {
  it("refuse options that contradict each other", () => {
    // @ts-expect-error order and sortField
    const both = new CursorPagination({ order: [["id", "asc"]], sortField: "id" });
    // @ts-expect-error nulls come first or last
    const misplaced = new CursorPagination({ order: [["id", "asc", "last"]] });
    const placed = new CursorPagination({
      order: [
        ["title", "asc", "nulls last"],
        ["id", "asc"],
      ],
      nulls: "first",
    });
    expectTypeOf(placed).toEqualTypeOf<CursorPagination<"title" | "id">>();
    void misplaced;
    // @ts-expect-error page_number always has a total
    const uncounted = new PageNumberPagination({ totals: "none" });
    expectTypeOf(uncounted).toEqualTypeOf<PageNumberPagination>();
    void both;
  });

  it("of one's own type their metadata", () => {
    class ByLetter extends BasePaginationStrategy<
      readonly [letter: string, size: number],
      { readonly letter: string }
    > {
      override parseParameters(query: QueryParams): readonly [string, number] {
        return [String(query["letter"] ?? "a"), 20];
      }
      override calculateOffsetLimit(letter: string, size: number): readonly [number, number] {
        return [letter.charCodeAt(0), size];
      }
      override generateMetadata(): { readonly letter: string } {
        return { letter: "a" };
      }
    }
    expectTypeOf(response.paginate(rows, { strategy: new ByLetter() })).toEqualTypeOf<
      Answer<{ readonly letter: string }>
    >();
  });
});

describe("handlers", () => {
  it("[HND-05] need both members", () => {
    // @ts-expect-error no getItems
    class NoItems extends SyncDataHandler<BookRow> {
      getTotalItems(): number {
        return 1;
      }
    }
    // @ts-expect-error no getTotalItems
    class NoTotal extends AsyncDataHandler<BookRow> {
      async getItems(): Promise<readonly BookRow[]> {
        return rows;
      }
    }
    void [NoItems, NoTotal];
  });

  it("may add a seek", () => {
    class Log extends AsyncDataHandler<BookRow> implements Seekable<BookRow> {
      readonly uniqueKey = ["id"];
      async getTotalItems(): Promise<number> {
        return 1;
      }
      async getItems(_offset: number, _limit: number): Promise<readonly BookRow[]> {
        return rows;
      }
      async getItemsAfter(_seek: SeekRequest, _limit: number): Promise<readonly BookRow[]> {
        return rows;
      }
    }
    void response.apaginate(new Log(), { strategy: newest });
  });

  it("[HND-16] over a table without id need a unique key", () => {
    expectTypeOf(books).toEqualTypeOf<TableHandler<BookRow>>();
    const codes = database.selectFrom("codes").selectAll();
    // @ts-expect-error there is no column id
    tableHandler(codes);
    tableHandler(codes, { uniqueKey: ["code"] });
    // @ts-expect-error no such column
    tableHandler(codes, { uniqueKey: ["id"] });
  });
});

describe("a paginated route", () => {
  const app = new PorticoApp();
  const item = z.object({ id: z.string(), title: z.string(), published_at: z.string() });

  it("answers with pages of its strategy and its items", () => {
    app.get("/p1", { paginated: { strategy: newest, item } }, ({ response: r }) =>
      r.apaginate(books, { strategy: newest }),
    );
    app.get("/p2", { paginated: { strategy: "page_number", item } }, ({ response: r }) => r.paginate(rows));
    // @ts-expect-error another strategy than declared
    app.get("/p3", { paginated: { strategy: "limit_offset", item } }, ({ response: r }) => r.paginate(rows));
    // @ts-expect-error other rows than declared
    app.get("/p4", { paginated: { strategy: "page_number", item } }, ({ response: r }) => r.paginate([{ id: "" }]));
  });

  it("may be in an order by columns that are not sent", () => {
    const paginated = { strategy: newest, item: z.object({ id: z.string() }) };
    app.get("/p5", { paginated }, ({ response: r }) => r.apaginate(books, { strategy: newest }));
    // @ts-expect-error the rows have no such column
    app.get("/p6", { paginated }, ({ response: r }) => r.paginate([{ id: "" }], { strategy: newest }));
  });
});

describe("conditions", () => {
  it("know their columns, and fit rows that have them", () => {
    expectTypeOf(isIn("title", ["Emma"])).toEqualTypeOf<Condition<"title">>();
    expectTypeOf(isEqual("id", "1")).toExtend<Condition<keyof BookRow>>();
    expectTypeOf(isNull("shelf")).not.toExtend<Condition<keyof BookRow>>();
    const where = (condition: () => Condition<keyof BookRow>): void => void condition;
    where(() => isIn("id", { from: "loans", column: "book_id", where: isNull("returned_at") }));
    // @ts-expect-error a book has no such column
    where(() => isEqual("shelf", 1));
    // @ts-expect-error a missing value is not null
    isEqual("id", undefined);
    // @ts-expect-error a value is not a list
    isIn("id", "1");
  });
});

describe("response.page", () => {
  it("returns the page that paginate would send", () => {
    expectTypeOf(response.page(books, { strategy: newest })).toEqualTypeOf<Promise<Page<BookRow, CursorMetadata>>>();
    expectTypeOf(response.page(rows)).toEqualTypeOf<Promise<Page<BookRow, PageNumberMetadata>>>();
    // @ts-expect-error -- the rows have no such column
    void response.page(rows, { strategy: new CursorPagination({ sortField: "titel" }) });
  });

  it("fits a paginated route with a schema for the whole body, which then has no item", () => {
    const app = new PorticoApp();
    const body = z.object({ total: z.number(), titles: z.array(z.string()) });
    app.get("/v1", { paginated: { strategy: newest }, response: body }, async ({ response: r }) => {
      const { items } = await r.page(books, { strategy: newest });
      return { total: 1, titles: items.map(({ title }) => title) };
    });
    // @ts-expect-error -- the body does not match its schema
    app.get("/v2", { paginated: { strategy: newest }, response: body }, () => ({ total: 1 }));
    // @ts-expect-error -- neither item nor response
    app.get("/v3", { paginated: { strategy: newest } }, ({ response: r }) => r.apaginate(books, { strategy: newest }));
  });
});

describe("walk", () => {
  it("knows the items, and accepts columns of the items and of the source", () => {
    expectTypeOf(walk(books, { size: 10 })).toEqualTypeOf<AsyncGenerator<WalkBatch<BookRow>, void, undefined>>();
    expectTypeOf(
      walk(new SyncListDataHandler(rows), { size: 10, after: null, order: [["title", "asc"]] }),
    ).toEqualTypeOf<AsyncGenerator<WalkBatch<BookRow>, void, undefined>>();
    const titles = tableHandler(database.selectFrom("books").select(["id", "title"]));
    expectTypeOf(walk(titles, { size: 10, order: [["published_at", "desc"]] })).toEqualTypeOf<
      AsyncGenerator<WalkBatch<{ id: string; title: string }>, void, undefined>
    >();
  });

  it("rejects an unknown column, a missing size and a handler that cannot seek", () => {
    // @ts-expect-error -- no such column
    walk(books, { size: 10, order: [["titel", "asc"]] });
    // @ts-expect-error -- the size is required
    walk(books, {});
    class Offsets extends SyncDataHandler<BookRow> {
      getTotalItems(): number {
        return 0;
      }
      getItems(): readonly BookRow[] {
        return [];
      }
    }
    // @ts-expect-error -- it has no getItemsAfter
    walk(new Offsets(), { size: 10 });
  });
});
