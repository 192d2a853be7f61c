import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { desc, eq, getTableName, sql } from "drizzle-orm";
import { BetterSQLiteSession } from "drizzle-orm/better-sqlite3/session";
import { drizzle } from "drizzle-orm/node-postgres";
import { alias, boolean, integer, pgSchema, text, timestamp } from "drizzle-orm/pg-core";
import * as sqlite from "drizzle-orm/sqlite-core";
import { Pool } from "pg";
import { isEqual, isInRange } from "portico";
import { drizzleHandler } from "portico/drizzle";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { valuesOf } from "../../lab/servers/drizzle-databases.ts";
import { ids, range } from "../pagination/ways.ts";

const SCHEMA = `portico_drizzle_queries_${randomUUID().slice(0, 8)}`;
const shop = pgSchema(SCHEMA);
// The names of the columns are those of the properties in snake case.
const books = shop.table("books", {
  id: integer().primaryKey(),
  mainTitle: text().notNull(),
  isSold: boolean().notNull(),
  createdAt: timestamp({ withTimezone: true }).notNull(),
  sequelOf: integer(),
});
const pool = new Pool({ host: "127.0.0.1", user: "postgres", database: "test", max: 1 });
const db = drizzle(pool, { casing: "snake_case" });

beforeAll(async () => {
  await pool.query(`create schema ${SCHEMA}`);
  await pool.query(
    `create table ${SCHEMA}.books (id integer primary key, main_title text not null, is_sold boolean not null, created_at timestamptz not null, sequel_of integer)`,
  );
  await db.insert(books).values(
    range(1, 12).map((id) => ({
      id,
      mainTitle: `Book ${id}`,
      isSold: id % 2 === 0,
      createdAt: new Date(Date.UTC(2024, 0, id)),
      sequelOf: id > 6 ? id - 6 : null,
    })),
  );
});
afterAll(async () => {
  await pool.query(`drop schema ${SCHEMA} cascade`);
  await pool.end();
});

describe("a Drizzle query on PostgreSQL", () => {
  const seek = {
    order: [["mainTitle", "asc"] as const, ["id", "asc"] as const],
    key: null,
    direction: "forward",
  } as const;

  it("may be of a schema, with names by the casing of the database", async () => {
    const list = drizzleHandler(db.select().from(books).where(eq(books.isSold, true)));

    expect(list.name).toBe(`${SCHEMA}.books`);
    expect(ids({ items: await list.getItemsAfter(seek, 3) })).toEqual([10, 12, 2]);
    expect(await list.getItems(0, 1)).toEqual(await db.select().from(books).where(eq(books.id, 2)));
  });

  it("may join a table with itself by an alias", async () => {
    const sequels = alias(books, "sequels");
    const query = db
      .select({ id: books.id, sequel: sequels.mainTitle })
      .from(books)
      .innerJoin(sequels, eq(sequels.sequelOf, books.id));
    const list = drizzleHandler(query);

    expect(
      await list.getItemsAfter(
        {
          ...seek,
          order: [
            ["sequel", "desc"],
            ["id", "asc"],
          ],
        },
        2,
      ),
    ).toEqual([
      { id: 3, sequel: "Book 9" },
      { id: 2, sequel: "Book 8" },
    ]);
    const aliased = drizzleHandler(db.select().from(sequels));
    expect(ids({ items: await aliased.getItemsAfter(seek, 2) })).toEqual([1, 10]);
  });

  it("compares a Date and a boolean as Drizzle would", async () => {
    const list = drizzleHandler(db.select().from(books));

    expect(await list.scopedTo(isEqual("isSold", true)).getTotalItems()).toBe(6);
    expect(await list.scopedTo(isEqual("createdAt", new Date(Date.UTC(2024, 0, 3)))).getTotalItems()).toBe(1);
  });

  it("may be distinct, for pages by offset", async () => {
    const list = drizzleHandler(db.selectDistinct({ isSold: books.isSold }).from(books).orderBy(desc(books.isSold)), {
      uniqueKey: ["isSold"],
    });

    expect(await list.getTotalItems()).toBe(2);
    expect(await list.getItems(0, 5)).toEqual([{ isSold: true }, { isSold: false }]);
  });

  it("has no locks", () => {
    expect(() => drizzleHandler(db.select().from(books).for("update"))).toThrow("does not support FOR UPDATE");
  });
});

describe("a synchronous Drizzle database", () => {
  const rows = sqlite.sqliteTable("rows", {
    id: sqlite.integer().primaryKey(),
    isOpen: sqlite.integer("is_open", { mode: "boolean" }).notNull(),
    at: sqlite.integer({ mode: "timestamp" }).notNull(),
  });

  it("has lists as well, whose conditions have the types of the columns", async () => {
    const file = new DatabaseSync(":memory:");
    file.exec("create table rows (id integer primary key, is_open integer not null, at integer not null)");
    for (const id of range(1, 9))
      file.prepare("insert into rows values (?, ?, ?)").run(id, id % 2, Math.floor(Date.UTC(2024, 0, id) / 1000));
    const statementOf = (sqlText: string) => ({
      raw: () => ({ all: (...parameters: unknown[]) => valuesOf(file, sqlText, parameters) }),
    });
    const dialect = new sqlite.SQLiteSyncDialect();
    const session = new BetterSQLiteSession({ prepare: statementOf }, dialect, undefined);
    const local = new sqlite.BaseSQLiteDatabase("sync", dialect, session as never, undefined);
    const list = drizzleHandler(local.select().from(rows));

    const found = await list.getItemsAfter({ order: [["id", "desc"]], key: null, direction: "forward" }, 2);
    expect(found).toEqual([
      { id: 9, isOpen: true, at: new Date(Date.UTC(2024, 0, 9)) },
      { id: 8, isOpen: false, at: new Date(Date.UTC(2024, 0, 8)) },
    ]);
    expect(await list.scopedTo(isEqual("isOpen", true)).getTotalItems()).toBe(5);
    expect(await list.scopedTo(isEqual("at", new Date(Date.UTC(2024, 0, 4)))).getTotalItems()).toBe(1);
    expect(await list.scopedTo(isInRange("at", { gt: new Date(Date.UTC(2024, 0, 4)) })).getTotalItems()).toBe(5);
    file.close();
  });
});

describe("the parts of Drizzle that its declarations leave out", () => {
  it("exist in this version", () => {
    const query = db.select().from(books) as unknown as Record<string, any>;
    const table = alias(books, "other") as unknown as Record<symbol, unknown>;

    expect(query["_"].config.table).toBe(books);
    expect(query["dialect"].sqlToQuery(sql`1`)).toMatchObject({ sql: "1", params: [] });
    expect(query["session"]).toBeDefined();
    expect(getTableName(table as never)).toBe("other");
    expect([table[Symbol.for("drizzle:Schema")], table[Symbol.for("drizzle:OriginalName")]]).toEqual([SCHEMA, "books"]);
    const inner = db
      .select({ total: sql`1`.as("total") })
      .from(books)
      .as("inner");
    expect((inner.total as unknown as { isSelectionField: boolean }).isSelectionField).toBe(true);
  });
});
