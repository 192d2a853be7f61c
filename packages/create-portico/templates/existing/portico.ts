import { env, PorticoApp } from "portico";
import { authentication } from "portico/auth";
import { connection, field, Graph, mutation, type ObjectType, object, schema, t } from "portico/graphql";
import { CursorPagination } from "portico/pagination";
import { openDatabase, sqlStores, userModel } from "portico/sql";

// Accounts and sessions. Create the tables with: npx portico migrate up --database sqlite:portico.db
const database = openDatabase(env("PORTICO_DATABASE_URL", "sqlite:portico.db"));
const secret = env("SECRET", crypto.randomUUID()); // set SECRET so that sessions survive a restart

export const portico = new PorticoApp({ title: "my-api", stores: sqlStores(database), cursorKeys: [secret] });
portico.onClose(() => database.destroy());
portico.use(authentication({ userModel: userModel(database), secret, audience: "my-api" })); // adds account/*

// Replace this array with your own data, such as a query of Kysely, Drizzle or Prisma.
const notes = [{ id: 1, text: "Buy milk" }];
const newestFirst = new CursorPagination({ order: [["id", "desc"]], defaultPageSize: 10 });

portico.get("/notes", { auth: true }, ({ response }) => response.paginate(notes, { strategy: newestFirst }));

const Note: ObjectType<(typeof notes)[number]> = object("Note", { id: t.int, text: t.string });
const query = {
  me: field(t.string, { auth: true })(({ ctx }) => ctx.user.displayName),
  notes: connection(Note, newestFirst, { auth: true })(() => notes),
};
const mutations = {
  addNote: mutation(Note, { params: { text: t.string }, auth: true })(({ text }) => {
    const note = { id: notes.length + 1, text };
    notes.push(note);
    return note;
  }),
};
new Graph(schema({ query, mutation: mutations }), { ide: true }).mount(portico);
