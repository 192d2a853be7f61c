import { connection, field, t } from "portico/graphql";
import { database } from "../database.ts";
import { bookList, newestFirst } from "./book-lists.ts";
import { Isbn } from "./book-scalars.ts";
import { Book } from "./book-type.ts";

const BookKey = t.oneOf("BookKey", { id: t.id, isbn: Isbn });

export const bookQueries = {
  // These pages are also those of GET /books/newest, so a cursor from one works in the other.
  books: connection(Book, newestFirst, { columns: "selected", description: "The books, newest first." })(() =>
    bookList(),
  ),

  book: field(t.nullable(Book), { params: { by: BookKey } })(({ by }) =>
    database
      .current()
      .selectFrom("books")
      .selectAll()
      .where((eb) => (by.id === undefined ? eb("isbn", "=", by.isbn) : eb("id", "=", by.id)))
      .executeTakeFirst(),
  ),
};
