import { isEqual, rule } from "portico";
import type { NoteRow } from "./note-table.ts";

/** Users see only their own notes. For anyone else, a note does not exist. */
export const ownNotes = rule<NoteRow>({
  name: "note.own",
  allows: (user, note) => note.owner_id === user.id,
  where: (user) => isEqual("owner_id", user.id),
});
