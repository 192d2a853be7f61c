import type { Generated, Insertable, Selectable } from "kysely";

export const genres = ["novel", "poetry", "science", "history", "children"] as const;
type GenreName = (typeof genres)[number];

export interface BookTable {
  id: Generated<string>;
  isbn: string;
  title: string;
  genre: GenreName;
  author_id: string;
  price_cents: number;
  /** The purchase price. */
  cost_cents: number;
  stock: Generated<number>;
  added_at: Generated<Date>;
  /** The user who sells it, or null if it belongs to the shop. */
  seller_id: string | null;
}
export type BookRow = Selectable<BookTable>;
export type NewBook = Omit<Insertable<BookTable>, "seller_id">;

export interface CoverTable {
  book_id: string;
  content_type: string;
  bytes: Uint8Array;
}
