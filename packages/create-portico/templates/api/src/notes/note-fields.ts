import { connection, field, mutation, type ObjectType, object, t } from "portico/graphql";
import { inTransaction } from "../database.ts";
import { addNote, NoteText } from "./add-note.ts";
import { newestFirst, noteList } from "./note-list.ts";
import { ownNotes } from "./note-rules.ts";
import type { NoteRow } from "./note-table.ts";

const Note: ObjectType<NoteRow> = object(
  "Note",
  { id: t.id, text: t.string, created_at: field(t.dateTime, { name: "createdAt" }) },
  { auth: ownNotes },
);

export const noteQueries = {
  notes: connection(Note, newestFirst, { auth: true, description: "Your notes, newest first." })(noteList),
};

export const noteMutations = {
  addNote: mutation(Note, { params: { text: t.string(NoteText), trx: inTransaction }, auth: true })(
    ({ ctx, text, trx }) => addNote(trx, ctx.user, text),
  ),
};
