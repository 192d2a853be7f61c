import { sql } from "kysely";
import type { Migration } from "portico/sql";

/** Buyers and readers are Portico's users, so its migrations come first. */
export const ordersAndReviews: Migration = {
  name: "0002_orders_and_reviews",
  async up(database) {
    await sql`
      create table orders (
        id text primary key default gen_random_uuid()::text,
        buyer_id text not null references users (id),
        state text not null default 'placed',
        total_cents integer not null,
        at timestamptz not null default clock_timestamp()
      )`.execute(database);
    await sql`
      create table order_lines (
        order_id text not null references orders (id) on delete cascade,
        book_id text not null references books (id),
        copies integer not null check (copies > 0),
        price_cents integer not null,
        primary key (order_id, book_id)
      )`.execute(database);
    await sql`
      create table reviews (
        id text primary key default gen_random_uuid()::text,
        book_id text not null references books (id) on delete cascade,
        reader_id text not null references users (id) on delete cascade,
        stars integer not null check (stars between 1 and 5),
        text text not null,
        at timestamptz not null default clock_timestamp(),
        unique (book_id, reader_id)
      )`.execute(database);
    await sql`create index orders_of_buyer on orders (buyer_id, at, id)`.execute(database);
    await sql`create index reviews_of_reader on reviews (reader_id, at)`.execute(database);
  },
  async down(database) {
    for (const table of ["reviews", "order_lines", "orders"]) await database.schema.dropTable(table).execute();
  },
};
