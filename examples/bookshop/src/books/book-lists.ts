import { CursorPagination, LimitOffsetPagination, PageNumberPagination } from "portico/pagination";
import { type TableHandler, tableHandler, totalsCache } from "portico/sql";
import { database } from "../database.ts";
import type { BookRow, GenreName } from "./book-table.ts";

/** Pages by number, for people who browse. Counting 100,000 rows takes time, so counts are cached for a minute. */
export const byPage = new PageNumberPagination({ defaultPageSize: 20, maxPageSize: 100 });
const counts = totalsCache({ seconds: 60 });

/**
 * Pages by cursor, as fast at the end as at the beginning. The route and the connection share the strategy, so they
 * share cursors, even if the client sorts.
 */
export const newestFirst = new CursorPagination({
  order: [
    ["added_at", "desc"],
    ["id", "desc"],
  ],
  sortable: ["added_at", "title"],
  defaultPageSize: 20,
  maxPageSize: 100,
});

/** Pages by offset, for the stock table of staff and sellers. */
export const byOffset = new LimitOffsetPagination({ maxLimit: 200 });

/** The books of one genre or of all genres, for a strategy with its own order. */
export function bookList(genre?: GenreName | null): TableHandler<BookRow> {
  return tableHandler(booksOf(genre), { totalsCache: counts });
}

/** The books by title, for pages by number and by offset. */
export function booksByTitle(genre?: GenreName | null): TableHandler<BookRow> {
  return tableHandler(booksOf(genre).orderBy("title"), { totalsCache: counts });
}

function booksOf(genre?: GenreName | null) {
  const all = database.selectFrom("books").selectAll();
  return genre ? all.where("genre", "=", genre) : all;
}

/** The filter binds a cursor to its genre, so another genre rejects it. */
export function genreFilter(genre?: GenreName | null): { genre?: GenreName } {
  return genre ? { genre } : {};
}
