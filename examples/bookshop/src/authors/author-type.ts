import { field, type ObjectType, object, t } from "portico/graphql";
import { newestOfAuthor } from "../books/book-loaders.ts";
import type { BookRow } from "../books/book-table.ts";
import type { AuthorRow } from "./author-table.ts";

export const Author: ObjectType<AuthorRow> = object("Author", {
  id: t.id,
  name: t.string,
  born: t.nullable(t.int),
  // The type is given by name, because the file of Book imports this one.
  books: field(t.list(t.ref<BookRow>("Book")), { listSize: 5, description: "The five newest books." })(
    ({ ctx, parent }) => newestOfAuthor.load(ctx, parent.id),
  ),
});
