import type { Generated, Selectable } from "kysely";

export interface NoteTable {
  id: Generated<string>;
  owner_id: string;
  text: string;
  created_at: Generated<Date>;
}
export type NoteRow = Selectable<NoteTable>;
