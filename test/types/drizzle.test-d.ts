import { eq, sql } from "drizzle-orm";
import * as mysql from "drizzle-orm/mysql-core";
import { drizzle as drizzleMysql } from "drizzle-orm/mysql2";
import { drizzle } from "drizzle-orm/node-postgres";
import { integer, pgTable, text, timestamp } from "drizzle-orm/pg-core";
import * as sqlite from "drizzle-orm/sqlite-core";
import { drizzle as drizzleSqlite } from "drizzle-orm/sqlite-proxy";
import { PorticoApp } from "portico";
import { type DrizzleField, drizzleHandler } from "portico/drizzle";
import { CursorPagination } from "portico/pagination";
import type { TableHandler } from "portico/sql";
import { describe, expectTypeOf, it } from "vitest";

const books = pgTable("books", {
  id: integer().primaryKey(),
  name: text("title").notNull(),
  authorId: integer("author_id"),
  createdAt: timestamp("created_at").notNull(),
});
const authors = pgTable("authors", { slug: text().primaryKey(), id: integer().notNull() });
const db = drizzle("");

describe("drizzleHandler", () => {
  it("has the rows of the query, and the names of its fields", () => {
    const list = drizzleHandler(db.select().from(books));
    expectTypeOf(list).toEqualTypeOf<
      TableHandler<typeof books.$inferSelect, "id" | "name" | "authorId" | "createdAt">
    >();

    const partial = db.select({ id: books.id, size: sql<number>`1`, author: { slug: authors.slug } }).from(books);
    expectTypeOf<DrizzleField<typeof partial>>().toEqualTypeOf<"id" | "size">();
    const joined = db.select().from(books).leftJoin(authors, eq(books.authorId, authors.id)).where(eq(books.id, 1));
    expectTypeOf<DrizzleField<typeof joined>>().toEqualTypeOf<"id" | "name" | "authorId" | "createdAt">();
    expectTypeOf(drizzleHandler(joined).getItems(0, 1)).resolves.items.toEqualTypeOf<{
      books: typeof books.$inferSelect;
      authors: typeof authors.$inferSelect | null;
    }>();
  });

  it("requires a unique key without id, of fields that exist", () => {
    const query = db.select({ slug: authors.slug }).from(authors);
    drizzleHandler(query, { uniqueKey: ["slug"] });
    // @ts-expect-error
    drizzleHandler(query);
    // @ts-expect-error
    drizzleHandler(query, { uniqueKey: ["id"] });
    // @ts-expect-error
    drizzleHandler(db.select().from(books), { among: { author_id: [1] } });
  });

  it("accepts a strategy over its fields only", () => {
    const app = new PorticoApp();
    const byProperty = new CursorPagination({ order: [["createdAt", "desc"]] });
    const byColumn = new CursorPagination({ order: [["created_at", "desc"]] });
    app.get("/", ({ response }) =>
      response.apaginate(drizzleHandler(db.select().from(books)), { strategy: byProperty }),
    );
    app.get("/", ({ response }) =>
      // @ts-expect-error
      response.apaginate(drizzleHandler(db.select().from(books)), { strategy: byColumn }),
    );
  });

  it("accepts queries of every dialect, and dynamic ones", () => {
    const rows = mysql.mysqlTable("rows", { id: mysql.int().primaryKey(), at: mysql.datetime() });
    const others = sqlite.sqliteTable("rows", { id: sqlite.integer().primaryKey(), at: sqlite.text() });
    const mariadb = drizzleMysql("");
    const local = drizzleSqlite(async () => ({ rows: [] }));
    expectTypeOf(drizzleHandler(mariadb.select().from(rows))).toEqualTypeOf<
      TableHandler<typeof rows.$inferSelect, "id" | "at">
    >();
    expectTypeOf(drizzleHandler(local.select().from(others).$dynamic())).toEqualTypeOf<
      TableHandler<typeof others.$inferSelect, "id" | "at">
    >();
    // @ts-expect-error
    drizzleHandler(db.insert(books));
  });
});
