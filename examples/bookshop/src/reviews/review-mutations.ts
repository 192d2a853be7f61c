import { NotFound, rateLimit } from "portico";
import { mutation, t } from "portico/graphql";
import { z } from "zod";
import { whoMay } from "../accounts/who-may.ts";
import { inTransaction } from "../database.ts";
import { Review } from "./review-type.ts";

const NewReview = t.input("NewReview", {
  book: t.id,
  stars: t.int(z.int().min(1).max(5)),
  text: t.string(z.string().max(5_000), ""),
});

export const reviewMutations = {
  writeReview: mutation(Review, {
    params: { review: NewReview, trx: inTransaction },
    auth: whoMay("write:reviews"),
    limit: rateLimit({ perMinute: 20, key: (ctx) => ctx.user.identity, name: "write-review" }),
    description: "A second review of the same book replaces the first.",
  })(async ({ review: { book, stars, text }, trx, ctx }) => {
    const known = await trx.selectFrom("books").select("id").where("id", "=", book).executeTakeFirst();
    if (known === undefined) throw new NotFound(`The book ${book} does not exist`);
    return trx
      .insertInto("reviews")
      .values({ book_id: book, reader_id: ctx.user.id, stars, text })
      .onConflict((conflict) => conflict.columns(["book_id", "reader_id"]).doUpdateSet({ stars, text, at: new Date() }))
      .returningAll()
      .executeTakeFirstOrThrow();
  }),
};
