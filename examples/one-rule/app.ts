import { authorized, isEqual, PorticoApp, rule, type Topic, topic } from "portico";
import { APIKeyAuthBackend, APIKeys, AuthenticationMiddleware, SimpleUser } from "portico/auth";
import { connection, Graph, type ObjectType, object, schema, subscription, t } from "portico/graphql";
import { CursorPagination } from "portico/pagination";
import { openDatabase, type PorticoTables, tableHandler } from "portico/sql";

interface NoteRow {
  id: string;
  owner: string;
  text: string;
}

interface ById {
  path: { id: string };
}

const database = openDatabase<PorticoTables & { notes: NoteRow }>("sqlite::memory:");
await database.schema
  .createTable("notes")
  .addColumn("id", "text", (column) => column.primaryKey())
  .addColumn("owner", "text", (column) => column.notNull())
  .addColumn("text", "text", (column) => column.notNull())
  .execute();
const rows = [
  { id: "1", owner: "ada", text: "Buy milk" },
  { id: "2", owner: "bob", text: "Call Eve" },
  { id: "3", owner: "ada", text: "Water the plants" },
];
await database.insertInto("notes").values(rows).execute();
const allNotes = () => tableHandler(database.selectFrom("notes").selectAll());
const findNote = (id: string) => database.selectFrom("notes").selectAll().where("id", "=", id).executeTakeFirst();

const keys = new APIKeys();
export const app: PorticoApp = new PorticoApp({ logger: false });
app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: [new APIKeyAuthBackend({ keys })] }));
app.post("/keys", { auth: true }, ({ user }) => keys.create(user, { name: "backup" }));

// #region rule
const ownNotes = rule<NoteRow>({
  name: "note.own",
  allows: (user, note) => note.owner === user.identity,
  where: (user) => isEqual("owner", user.identity),
});

const fields = { id: t.id, text: t.string };
const Note: ObjectType<NoteRow> = object("Note", fields, { auth: ownNotes });

const note = authorized(({ path }: ById) => findNote(path.id), ownNotes);
app.get("/notes/:id", { params: { note } }, ({ note }) => note);
// #endregion rule

export const changed: Topic<NoteRow> = topic<NoteRow>("notes");
const notes = connection(Note, new CursorPagination({ totals: "exact" }))(allNotes);
const noteChanged = subscription(Note)(async function* ({ ctx }) {
  yield* ctx.pubsub.subscribe(changed);
});
new Graph(schema({ query: { notes }, subscription: { noteChanged } })).mount(app);
