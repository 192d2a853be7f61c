import type { Generated, Insertable, Selectable } from "kysely";

export const genres = ["novel", "poetry", "science", "history", "children"] as const;
export type GenreName = (typeof genres)[number];

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
}
export type BookRow = Selectable<BookTable>;
export type NewBook = Insertable<BookTable>;

export interface CoverTable {
  book_id: string;
  content_type: string;
  bytes: Uint8Array;
}
