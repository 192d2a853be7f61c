import { PasswordHasher } from "../../src/auth/index.ts";
import { type Database, migrate, type PorticoTables, userModel } from "../../src/sql/index.ts";
import type { PubSub } from "../../src/stores/pub-sub.ts";
import { NOTES, people } from "./soak-settings.ts";

export interface AuthorRow {
  readonly id: string;
  readonly name: string;
}
export interface NoteRow {
  readonly id: string;
  readonly author_id: string;
  readonly text: string;
  readonly written_at: string;
}
/** Written during faults. Its number is not unique, so that a write that is carried out twice is seen. */
interface EntryRow {
  readonly number: number;
  readonly text: string;
}
export interface Tables extends PorticoTables {
  entries: EntryRow;
  authors: AuthorRow;
  notes: NoteRow;
}

const AUTHORS = 20;

/** Makes the tables and fills them. Only `entries` grows from then on. */
export async function fillTables(database: Database<Tables>, bus: PubSub): Promise<void> {
  await migrate(database, "up");
  await database.schema
    .createTable("authors")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .execute();
  await database.schema
    .createTable("notes")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("author_id", "text", (column) => column.notNull())
    .addColumn("text", "text", (column) => column.notNull())
    .addColumn("written_at", "text", (column) => column.notNull())
    .execute();
  await database.schema
    .createTable("entries")
    .addColumn("number", "integer", (column) => column.notNull())
    .addColumn("text", "text", (column) => column.notNull())
    .execute();
  await database.schema.createIndex("notes_newest").on("notes").columns(["written_at", "id"]).execute();
  const authors = Array.from({ length: AUTHORS }, (_, n) => ({ id: `author${n}`, name: `Author ${n}` }));
  const notes = Array.from({ length: NOTES }, (_, n) => ({
    id: `note${n}`,
    author_id: `author${n % AUTHORS}`,
    text: `The note of number ${n}`,
    written_at: new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString(),
  }));
  await database.insertInto("authors").values(authors).execute();
  await database.insertInto("notes").values(notes).execute();
  await addPeople(database, bus);
}

/** All share one hash: a password is dear to hash. */
async function addPeople(database: Database<Tables>, bus: PubSub): Promise<void> {
  const { objects } = userModel(database, { bus });
  const passwordHash = await new PasswordHasher().hash(people.password);
  for (const username of [...people.members, ...people.visitors, ...people.targets]) {
    const user = await objects.importUser({ username, email: `${username}@soak.example`, passwordHash });
    await objects.grant(user, { permissions: ["read:notes", "write:notes"] });
  }
}
