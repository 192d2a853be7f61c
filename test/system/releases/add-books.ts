import type { Place } from "../../sql/accounts/databases.ts";

/** The list of the application, with titles that occur twice. */
export async function addBooks(place: Place): Promise<void> {
  const database = place.open<any>({ poolSize: 2 });
  await database.schema.createTable("books").addColumn("id", "text").addColumn("title", "text").execute();
  const rows = Array.from({ length: 6 }, (_, n) => ({ id: `book-${n}`, title: `Title ${n >> 1}` }));
  await database.insertInto("books").values(rows).execute();
}
