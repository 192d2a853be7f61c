import { sql } from "kysely";
import type { Migration } from "portico/sql";

/** Ids are random and made by the database. */
export const booksAndAuthors: Migration = {
  name: "0001_books_and_authors",
  async up(database) {
    await sql`
      create table authors (
        id text primary key default gen_random_uuid()::text,
        name text not null,
        born integer
      )`.execute(database);
    await sql`
      create table books (
        id text primary key default gen_random_uuid()::text,
        isbn text not null unique check (isbn ~ '^[0-9]{13}$'),
        title text not null,
        genre text not null,
        author_id text not null references authors (id),
        price_cents integer not null check (price_cents >= 0),
        cost_cents integer not null check (cost_cents >= 0),
        stock integer not null default 0 check (stock >= 0),
        added_at timestamptz not null default clock_timestamp()
      )`.execute(database);
    await sql`
      create table covers (
        book_id text primary key references books (id) on delete cascade,
        content_type text not null,
        bytes bytea not null
      )`.execute(database);
    // One for each order that a list has, the unique column at its end.
    await sql`create index authors_by_name on authors (name, id)`.execute(database);
    await sql`create index books_by_title on books (title, id)`.execute(database);
    await sql`create index books_of_genre_by_title on books (genre, title, id)`.execute(database);
    await sql`create index books_newest on books (added_at, id)`.execute(database);
    await sql`create index books_of_genre_newest on books (genre, added_at, id)`.execute(database);
    await sql`create index books_of_author on books (author_id, added_at, id)`.execute(database);
  },
  async down(database) {
    for (const table of ["covers", "books", "authors"]) await database.schema.dropTable(table).execute();
  },
};
