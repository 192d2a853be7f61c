import { sql } from "kysely";
import { type Loader, loader } from "portico/graphql";
import { database } from "../database.ts";
import type { ReviewRow } from "./review-table.ts";

/** The ten newest reviews of each book. */
export const reviewsOfBook: Loader<string, readonly ReviewRow[]> = loader(async (ids: readonly string[]) => {
  const rows = await database
    .current()
    .with("ranked", (db) =>
      db
        .selectFrom("reviews")
        .selectAll()
        .select(sql<number>`row_number() over (partition by book_id order by at desc, id)`.as("place"))
        .where("book_id", "in", ids),
    )
    .selectFrom("ranked")
    .selectAll()
    .where("place", "<=", 10)
    .orderBy("place")
    .execute();
  const byBook = Map.groupBy(rows, ({ book_id }) => book_id);
  return ids.map((id) => byBook.get(id) ?? []);
});

/** The average rating of each book, or null if it has no reviews. */
export const starsOfBook: Loader<string, number | null> = loader(async (ids: readonly string[]) => {
  const rows = await database
    .current()
    .selectFrom("reviews")
    .select(["book_id", sql<number>`avg(stars)::float8`.as("average")])
    .where("book_id", "in", ids)
    .groupBy("book_id")
    .execute();
  const averages = new Map(rows.map(({ book_id, average }) => [book_id, average]));
  return ids.map((id) => averages.get(id) ?? null);
});
