import { type Loader, loader } from "portico/graphql";
import { database } from "../database.ts";
import type { AuthorRow } from "./author-table.ts";

/** Authors by id: one statement for all books of a page. */
export const authorById: Loader<string, AuthorRow> = loader(async (ids: readonly string[]) => {
  const rows = await database.current().replica().selectFrom("authors").selectAll().where("id", "in", ids).execute();
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? new Error(`the author ${id} does not exist`));
});
