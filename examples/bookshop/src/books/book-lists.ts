import { CursorPagination, LimitOffsetPagination, PageNumberPagination } from "portico/pagination";
import { type TableHandler, tableHandler, totalsCache } from "portico/sql";
import { database } from "../database.ts";
import { type BookRow, genres } from "./book-table.ts";

/** The filters of all lists of books: `?genre=poetry&priceCents.lt=1000` on routes, and `filter` in GraphQL. */
const filterable = {
  genre: { type: genres, by: ["equal", "in"] },
  priceCents: { column: "price_cents", type: "integer", by: ["range"] },
  title: { type: "text", by: ["prefix"] },
} as const;

/** Pages by number, for people who browse. Counting 100,000 rows takes time, so counts are cached for a minute. */
export const byPage = new PageNumberPagination({ filterable, defaultPageSize: 20, maxPageSize: 100 });
const counts = totalsCache({ seconds: 60 });

/**
 * Pages by cursor, as fast at the end as at the beginning. The route and the connection share the strategy, so they
 * share cursors, even if the client sorts or filters. The items of the route do not contain the date, which everyone may
 * know.
 */
export const newestFirst = new CursorPagination({
  order: [
    ["added_at", "desc"],
    ["id", "desc"],
  ],
  sortable: { addedAt: { column: "added_at", public: true }, title: "title" },
  filterable,
  defaultPageSize: 20,
  maxPageSize: 100,
});

/** Pages of the books of one author. */
export const newestOfAuthor = new CursorPagination({
  order: [
    ["added_at", "desc"],
    ["id", "desc"],
  ],
  filterable,
  defaultPageSize: 5,
  maxPageSize: 20,
});

/** Pages by offset, for the stock table of staff and sellers. */
export const byOffset = new LimitOffsetPagination({ maxLimit: 200 });

/** The books for a strategy with its own order. */
export function bookList(): TableHandler<BookRow> {
  return tableHandler(database.replica().selectFrom("books").selectAll(), { totalsCache: counts });
}

/** The books for the lists of their authors, including those that this mutation has added. */
export function ownBooks(): TableHandler<BookRow> {
  return tableHandler(database.current().replica().selectFrom("books").selectAll());
}

/** The books by title, for pages by number and by offset. */
export function booksByTitle(): TableHandler<BookRow> {
  return tableHandler(database.replica().selectFrom("books").selectAll().orderBy("title"), { totalsCache: counts });
}
