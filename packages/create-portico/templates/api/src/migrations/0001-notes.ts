import { sql } from "kysely";
import type { Migration } from "portico/sql";

export const notes: Migration = {
  name: "0001_notes",
  async up(database) {
    await sql`
      create table notes (
        id text primary key default gen_random_uuid()::text,
        owner_id text not null references users (id) on delete cascade,
        text text not null,
        created_at timestamptz not null default now()
      )`.execute(database);
    // The pages of one owner, newest first, come straight from this index.
    await sql`create index notes_of_owner on notes (owner_id, created_at, id)`.execute(database);
  },
  async down(database) {
    await database.schema.dropTable("notes").execute();
  },
};
