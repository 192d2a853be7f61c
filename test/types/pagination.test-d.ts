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
      response.paginate(rows, { strategy: "cursor", sortField: "title", filter: { genre: "x" } }),
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
