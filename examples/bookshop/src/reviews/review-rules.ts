import { every, isEqual, rule } from "portico";
import { whoMay } from "../accounts/who-may.ts";
import type { ReviewRow } from "./review-table.ts";

/** Readers write and replace their own reviews. */
export const ownReviews = every(
  whoMay("write:reviews"),
  rule<ReviewRow>({
    name: "review.own",
    says: "the reader who wrote it",
    allows: (user, review) => review.reader_id === user.id,
    where: (user) => isEqual("reader_id", user.id),
  }),
);
