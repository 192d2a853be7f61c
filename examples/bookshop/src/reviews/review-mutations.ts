import { BadRequest, Depend, NotFound, rateLimit } from "portico";
import { mutation, t } from "portico/graphql";
import { whoMay } from "../accounts/user.ts";
import { unitOfWork } from "../database.ts";
import { Review } from "./review-type.ts";

const NewReview = t.input("NewReview", { book: t.id, stars: t.int, text: t.string("") });

export const reviewMutations = {
  writeReview: mutation(Review, {
    params: { review: NewReview, trx: Depend(unitOfWork) },
    auth: whoMay("write:reviews"),
    limit: rateLimit({ perMinute: 20, key: (ctx) => ctx.user.identity, name: "write-review" }),
    description: "A second review of the same book replaces the first.",
  })(async ({ review: { book, stars, text }, trx, ctx }) => {
    if (stars < 1 || stars > 5)
      throw new BadRequest("A review must have one to five stars", { code: "STARS_OUT_OF_RANGE" });
    if (text.length > 5_000)
      throw new BadRequest("A review must have at most 5,000 characters", { code: "REVIEW_TOO_LONG" });
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
