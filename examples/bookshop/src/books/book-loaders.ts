import { type Loader, loader } from "portico/graphql";
import { database } from "../database.ts";
import type { BookRow } from "./book-table.ts";

/** Books by id. */
export const bookById: Loader<string, BookRow> = loader(async (ids: readonly string[]) => {
  const rows = await database.current().selectFrom("books").selectAll().where("id", "in", ids).execute();
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? new Error(`the book ${id} does not exist`));
});

/** Whether each book has a cover. */
export const hasCover: Loader<string, boolean> = loader(async (ids: readonly string[]) => {
  const rows = await database.current().selectFrom("covers").select("book_id").where("book_id", "in", ids).execute();
  const covered = new Set(rows.map(({ book_id }) => book_id));
  return ids.map((id) => covered.has(id));
});
