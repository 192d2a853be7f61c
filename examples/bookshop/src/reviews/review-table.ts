import type { Generated, Selectable } from "kysely";

export interface ReviewTable {
  id: Generated<string>;
  book_id: string;
  reader_id: string;
  stars: number;
  text: string;
  at: Generated<Date>;
}
export type ReviewRow = Selectable<ReviewTable>;
