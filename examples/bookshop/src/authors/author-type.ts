import { connection, type ObjectType, object, t } from "portico/graphql";
import { newestOfAuthor, ownBooks } from "../books/book-lists.ts";
import { Book } from "../books/book-type.ts";
import type { AuthorRow } from "./author-table.ts";

export const Author: ObjectType<AuthorRow> = object("Author", {
  id: t.id,
  name: t.string,
  born: t.nullable(t.int),
  // The pages of all authors of a list are read with one statement.
  books: connection(Book, newestOfAuthor, {
    parent: { author_id: "id" },
    columns: "selected",
    description: "The books of the author, newest first.",
  })(ownBooks),
});
