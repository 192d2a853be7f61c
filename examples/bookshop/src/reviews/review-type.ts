import { field, type ObjectType, object, t } from "portico/graphql";
import { Activity } from "../accounts/activity.ts";
import { nameOfUser } from "../accounts/user-loader.ts";
import { bookById } from "../books/book-loaders.ts";
import { Book } from "../books/book-type.ts";
import { database } from "../database.ts";
import type { ReviewRow } from "./review-table.ts";

export const Review: ObjectType<ReviewRow> = object(
  "Review",
  {
    stars: t.int,
    text: t.string,
    book: field(Book)(({ ctx, parent }) => bookById.load(ctx, parent.book_id)),
    reader: field(t.string, { description: "The username of the reviewer." })(({ ctx, parent }) =>
      nameOfUser.load(ctx, parent.reader_id),
    ),
  },
  {
    implements: [Activity],
    // The query field node(id) finds a review by the id that Relay clients keep.
    node: {
      load: (ids) => database.current().selectFrom("reviews").selectAll().where("id", "in", ids).execute(),
    },
  },
);
