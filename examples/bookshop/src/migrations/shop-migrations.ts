import { accountLogMigration, idempotencyMigration, type Migration } from "portico/sql";
import { booksAndAuthors } from "./0001-books-and-authors.ts";
import { ordersAndReviews } from "./0002-orders-and-reviews.ts";
import { sellers } from "./0003-sellers.ts";

/** All migrations, in order. Do not edit one after its release: append a new one. */
export const shopMigrations: readonly Migration[] = [
  booksAndAuthors,
  ordersAndReviews,
  sellers,
  accountLogMigration,
  idempotencyMigration,
];
