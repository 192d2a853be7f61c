import type { CurrentUser } from "portico";
import type { Transaction } from "portico/sql";
import * as z from "zod";
import type { Tables } from "../database.ts";
import type { NoteRow } from "./note-table.ts";

/** Validates the text of a note, in the route and in the mutation. */
export const NoteText = z.string().trim().min(1).max(1000);

export function addNote(trx: Transaction<Tables>, user: CurrentUser, text: string): Promise<NoteRow> {
  return trx.insertInto("notes").values({ owner_id: user.id, text }).returningAll().executeTakeFirstOrThrow();
}
