import { field, type ObjectType, object, t } from "portico/graphql";
import { nameOfUser } from "../accounts/user-loader.ts";
import { authorById } from "../authors/author-loader.ts";
import { Author } from "../authors/author-type.ts";
import { reviewsOfBook, starsOfBook } from "../reviews/review-loaders.ts";
import type { ReviewRow } from "../reviews/review-table.ts";
import { hasCover } from "./book-loaders.ts";
import { pricedBooks } from "./book-rules.ts";
import { Cents, Isbn, Stock, Title } from "./book-scalars.ts";
import { type BookRow, genres } from "./book-table.ts";

export const Genre = t.enum("Genre", genres);

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
  })(({ ctx, parent }) => (parent.seller_id === null ? null : nameOfUser.load(ctx, parent.seller_id))),
  author: field(Author)(({ ctx, parent }) => authorById.load(ctx, parent.author_id)),
  cover: field(t.nullable(t.string), { description: "The URL of the cover image." })(async ({ ctx, parent }) =>
    (await hasCover.load(ctx, parent.id)) ? `/books/${parent.id}/cover` : null,
  ),
  stars: field(t.nullable(t.float), { description: "The average rating of its reviews." })(({ ctx, parent }) =>
    starsOfBook.load(ctx, parent.id),
  ),
  reviews: field(t.list(t.ref<ReviewRow>("Review")), { listSize: 10, description: "The ten newest reviews." })(
    ({ ctx, parent }) => reviewsOfBook.load(ctx, parent.id),
  ),
});
