import { CursorPagination, LimitOffsetPagination, PageNumberPagination } from "portico/pagination";
import { type TableHandler, tableHandler, totalsCache } from "portico/sql";
import { database } from "../database.ts";
import type { BookRow, GenreName } from "./book-table.ts";

/** By page, for people who leaf through them. Counting 100,000 rows takes time, so a count is good for a minute. */
export const byPage = new PageNumberPagination({ defaultPageSize: 20, maxPageSize: 100 });
const counts = totalsCache({ seconds: 60 });

/** By cursor: as fast at the end as at the beginning. The route and the connection share it, and so their cursors: also when the client sorts. */
export const newestFirst = new CursorPagination({
  order: [
    ["added_at", "desc"],
    ["id", "desc"],
  ],
  sortable: ["added_at", "title"],
  defaultPageSize: 20,
  maxPageSize: 100,
});

/** By offset, for the table in the sellers' back room. */
export const byOffset = new LimitOffsetPagination({ maxLimit: 200 });

/** The books, of one genre or of all, for a strategy that has an order of its own. */
export function bookList(genre?: GenreName | null): TableHandler<BookRow> {
  return tableHandler(booksOf(genre), { totalsCache: counts });
}

/** The same by title, for pages by number and by offset. */
export function booksByTitle(genre?: GenreName | null): TableHandler<BookRow> {
  return tableHandler(booksOf(genre).orderBy("title"), { totalsCache: counts });
}

function booksOf(genre?: GenreName | null) {
  const all = database.selectFrom("books").selectAll();
  return genre ? all.where("genre", "=", genre) : all;
}

/** A cursor of one genre makes no sense in another: it is refused there. */
export function genreFilter(genre?: GenreName | null): { genre?: GenreName } {
  return genre ? { genre } : {};
}
