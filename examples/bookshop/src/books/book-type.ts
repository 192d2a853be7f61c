import { field, type ObjectType, object, t } from "portico/graphql";
import { nameOfUser } from "../accounts/user-loader.ts";
import { authorById } from "../authors/author-loader.ts";
import type { AuthorRow } from "../authors/author-table.ts";
import { reviewsOfBook, starsOfBook } from "../reviews/review-loaders.ts";
import type { ReviewRow } from "../reviews/review-table.ts";
import { hasCover } from "./book-loaders.ts";
import { pricedBooks } from "./book-rules.ts";
import { Cents, Isbn, Stock, Title } from "./book-scalars.ts";
import { type BookRow, genres } from "./book-table.ts";

export const Genre = t.enum("Genre", genres);

// Lists read only the columns that a query selects, and `reads` names those of each resolver.
export const Book: ObjectType<BookRow> = object("Book", {
  id: t.id,
  isbn: Isbn,
  title: Title,
  genre: Genre,
  price_cents: field(Cents, { name: "priceCents" }),
  stock: field(Stock, { description: "The number of copies in stock." }),
  added_at: field(t.dateTime, { name: "addedAt" }),
  // A field with a gate is nullable in the schema.
  cost_cents: field(Cents, {
    name: "costCents",
    description: "The purchase price, visible to staff and to the seller of the book.",
    auth: pricedBooks,
  }),
  seller: field(t.nullable(t.string), {
    description: "The username of the seller, or null for a book of the shop itself.",
    reads: ["seller_id"],
  })(({ ctx, parent }) => (parent.seller_id === null ? null : nameOfUser.load(ctx, parent.seller_id))),
  // The type is given by name, because the file of Author imports this one.
  author: field(t.ref<AuthorRow>("Author"), { reads: ["author_id"] })(({ ctx, parent }) =>
    authorById.load(ctx, parent.author_id),
  ),
  cover: field(t.nullable(t.string), { description: "The URL of the cover image.", reads: ["id"] })(
    async ({ ctx, parent }) => ((await hasCover.load(ctx, parent.id)) ? `/books/${parent.id}/cover` : null),
  ),
  stars: field(t.nullable(t.float), { description: "The average rating of its reviews.", reads: ["id"] })(
    ({ ctx, parent }) => starsOfBook.load(ctx, parent.id),
  ),
  reviews: field(t.list(t.ref<ReviewRow>("Review")), {
    listSize: 10,
    description: "The ten newest reviews.",
    reads: ["id"],
  })(({ ctx, parent }) => reviewsOfBook.load(ctx, parent.id)),
});
