import type { Migration } from "portico/sql";
import { booksAndAuthors } from "./0001-books-and-authors.ts";
import { ordersAndReviews } from "./0002-orders-and-reviews.ts";

/** In the order in which they are applied. What was released is not edited: a change is a new one at the end. */
export const shopMigrations: readonly Migration[] = [booksAndAuthors, ordersAndReviews];
