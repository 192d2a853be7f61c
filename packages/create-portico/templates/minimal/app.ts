import { type Generated, type Selectable, sql } from "kysely";
import { type CurrentUser, env, isEqual, PorticoApp, rule } from "portico";
import { authentication } from "portico/auth";
import { connection, field, Graph, mutation, type ObjectType, object, schema, t } from "portico/graphql";
import { CursorPagination } from "portico/pagination";
import {
  type Migration,
  migrate,
  openDatabase,
  type PorticoTables,
  sqlStores,
  tableHandler,
  userModel,
} from "portico/sql";
import * as z from "zod";

interface NoteTable {
  id: Generated<number>;
  owner_id: string;
  text: string;
}
type NoteRow = Selectable<NoteTable>;

interface Tables extends PorticoTables {
  notes: NoteTable;
}

// To change the table later, append another migration. A migration that has run is not run again.
const createNotes: Migration = {
  name: "0001_notes",
  async up(database) {
    await sql`create table notes (
      id integer primary key,
      owner_id text not null references users (id) on delete cascade,
      text text not null
    )`.execute(database);
    await sql`create index notes_of_owner on notes (owner_id, id)`.execute(database);
  },
  async down(database) {
    await sql`drop table notes`.execute(database);
  },
};

const database = openDatabase<Tables>(env("DATABASE_URL"));
await migrate(database, "up", { migrations: [createNotes] });

const secret = env("SECRET");
export const app = new PorticoApp({
  title: "my-api",
  stores: sqlStores(database),
  cursorKeys: [secret],
  logger: { level: import.meta.main ? "info" : "error" }, // in tests only the reason of a 500
});
app.onClose(() => database.destroy());
app.use(authentication({ userModel: userModel(database), secret, audience: "my-api" })); // adds /account/*

// Users see only their own notes, in every route, list and GraphQL field.
const ownNotes = rule<NoteRow>({
  name: "note.own",
  allows: (user, note) => note.owner_id === user.identity,
  where: (user) => isEqual("owner_id", user.identity),
});

// REST and GraphQL share the list and its order, so a cursor of one works in the other.
const newestFirst = new CursorPagination({ order: [["id", "desc"]], defaultPageSize: 10 });
const allNotes = () => tableHandler(database.selectFrom("notes").selectAll());
const addNote = (user: CurrentUser, text: string) =>
  database.insertInto("notes").values({ owner_id: user.identity, text }).returningAll().executeTakeFirstOrThrow();

const Text = z.string().trim().min(1).max(1000);
const item = z.object({ id: z.int(), text: Text });

app.get("/notes", { auth: true, paginated: { strategy: newestFirst, item, rule: ownNotes } }, ({ response }) =>
  response.apaginate(allNotes(), { strategy: newestFirst }),
);
app.post(
  "/notes",
  { auth: true, body: z.object({ text: Text }), response: { 201: item } },
  async ({ user, body, response }) => response.status(201).json(await addNote(user, body.text)),
);

const Note: ObjectType<NoteRow> = object("Note", { id: t.int, text: t.string }, { auth: ownNotes });
const query = {
  me: field(t.string, { auth: true })(({ ctx }) => ctx.user.displayName),
  notes: connection(Note, newestFirst, { auth: true })(allNotes),
};
const mutations = {
  addNote: mutation(Note, { params: { text: t.string(Text) }, auth: true })(({ ctx, text }) => addNote(ctx.user, text)),
};
new Graph(schema({ query, mutation: mutations }), { ide: true }).mount(app);

if (import.meta.main) await app.listen({ port: Number(env("PORT", "3000")) });
