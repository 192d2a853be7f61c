import type { PorticoTables } from "portico/sql";
import type { AuthorTable } from "./authors/author-table.ts";
import type { BookTable, CoverTable } from "./books/book-table.ts";
import type { OrderLineTable, OrderTable } from "./orders/order-table.ts";
import type { ReviewTable } from "./reviews/review-table.ts";

/** All tables: Portico's own, which hold the accounts, and the shop's. */
export interface Tables extends PorticoTables {
  authors: AuthorTable;
  books: BookTable;
  covers: CoverTable;
  orders: OrderTable;
  order_lines: OrderLineTable;
  reviews: ReviewTable;
}
