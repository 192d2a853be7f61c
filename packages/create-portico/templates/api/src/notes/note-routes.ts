import { authorized, Router } from "portico";
import * as z from "zod";
import { database, inTransaction } from "../database.ts";
import { addNote, NoteText } from "./add-note.ts";
import { newestFirst, noteList } from "./note-list.ts";
import { ownNotes } from "./note-rules.ts";

// A response contains only the fields of this schema.
const Note = z.object({ id: z.string(), text: NoteText });

const findNote = (id: string) => database.selectFrom("notes").selectAll().where("id", "=", id).executeTakeFirst();

/** The routes under /notes, for signed-in users. */
export function noteRoutes() {
  const router = new Router({ auth: true });

  router.get(
    "/",
    { paginated: { strategy: newestFirst, item: Note, rule: ownNotes }, summary: "Lists your notes, newest first" },
    ({ response }) => response.apaginate(noteList(), { strategy: newestFirst }),
  );

  router.get(
    "/:id",
    // Another user's note is "not found", like a note that does not exist.
    {
      response: Note,
      params: { note: authorized(({ path }) => findNote(path.id), ownNotes) },
      summary: "Returns a note",
    },
    ({ note }) => note,
  );

  router.post(
    "/",
    {
      body: z.object({ text: NoteText }),
      response: { 201: Note },
      params: { trx: inTransaction },
      summary: "Adds a note",
    },
    async ({ body, user, trx, response }) => response.status(201).json(await addNote(trx, user, body.text)),
  );

  return router;
}
