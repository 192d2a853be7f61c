import { CursorPagination, SyncListDataHandler } from "portico/pagination";
import type { Book, Shelf } from "./shelf.ts";

/** How books are paged, by the routes and by the graph alike. Two books of one title are told apart by their ISBN. */
export const byTitle: CursorPagination<"title"> = new CursorPagination({ sortField: "title", maxPageSize: 50 });

/** The books to page through, of one author or of all. */
export function bookPages(shelf: Shelf, author?: string): SyncListDataHandler<Book> {
  const books = shelf.list().filter((book) => author === undefined || book.author === author);
  return new SyncListDataHandler(books, { name: "books", uniqueKey: ["isbn"] });
}
