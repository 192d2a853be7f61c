import { asc, desc, sql } from "drizzle-orm";
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { integer, pgTable, text, timestamp } from "drizzle-orm/pg-core";
import { Pool } from "pg";
import { PorticoApp } from "portico";
import { AsyncDataHandler, type CursorMetadata, type Seekable, type SeekRequest } from "portico/pagination";
import { testClient } from "portico/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Body, bodyOf, ids, range, SECRET, target } from "../pagination/ways.ts";

const books = pgTable("portico_drizzle_books", {
  id: integer("id").primaryKey(),
  title: text("title").notNull(),
  createdAt: timestamp("created_at", { withTimezone: true, mode: "string", precision: 6 }).notNull(),
});
type Book = typeof books.$inferSelect;

/** The recipe of the guide. */
class DrizzleBooks extends AsyncDataHandler<Book> implements Seekable<Book> {
  override readonly name = "books";
  readonly uniqueKey = ["id"];
  readonly #db: NodePgDatabase;
  constructor(db: NodePgDatabase) {
    super();
    this.#db = db;
  }
  getTotalItems(): Promise<number> {
    return this.#db.$count(books);
  }
  async getItems(offset: number, limit: number): Promise<readonly Book[]> {
    return this.#db.select().from(books).orderBy(asc(books.createdAt), asc(books.id)).offset(offset).limit(limit);
  }
  async getItemsAfter({ key, direction }: SeekRequest, limit: number): Promise<readonly Book[]> {
    const [way, sign] = direction === "forward" ? [asc, sql.raw(">")] : [desc, sql.raw("<")];
    const beyond = key === null ? undefined : sql`(${books.createdAt}, ${books.id}) ${sign} (${key[0]}, ${key[1]})`;
    return this.#db.select().from(books).where(beyond).orderBy(way(books.createdAt), way(books.id)).limit(limit);
  }
}

const pool = new Pool({ host: "127.0.0.1", user: "postgres", database: "test", max: 1 });

beforeAll(async () => {
  await pool.query(
    "create table portico_drizzle_books (id integer primary key, title text not null, created_at timestamptz not null)",
  );
  // Two rows in each microsecond.
  await pool.query(
    "insert into portico_drizzle_books select i, 'Book ' || i, timestamptz '2024-01-01' + (i / 2) * interval '1 microsecond' from generate_series(1, 45) i",
  );
});
afterAll(async () => {
  await pool.query("drop table portico_drizzle_books");
  await pool.end();
});

it("walks a Drizzle list forward and backward with the recipe of the guide", async () => {
  const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
  app.get("/books", ({ response }) =>
    response.apaginate(new DrizzleBooks(drizzle(pool)), {
      strategy: "cursor",
      sortField: "createdAt",
      defaultPageSize: 7,
    }),
  );
  const client = testClient(app);

  const seen: unknown[] = [];
  let body: Body<CursorMetadata> = bodyOf<CursorMetadata>(await client.get("/books"));
  for (; body.pagination.links.next !== undefined; body = bodyOf(await client.get(target(body.pagination.links.next))))
    seen.push(...ids(body));
  seen.push(...ids(body));
  const back: unknown[] = ids(body);
  while (body.pagination.links.prev !== undefined) {
    body = bodyOf<CursorMetadata>(await client.get(target(body.pagination.links.prev)));
    back.unshift(...ids(body));
  }

  expect(seen).toEqual(range(1, 45));
  expect(back).toEqual(range(1, 45));
});
