import { randomUUID } from "node:crypto";
import { Kysely, sql } from "kysely";
import { Pool } from "pg";
import { PorticoApp } from "portico";
import { CursorPagination } from "portico/pagination";
import { openDatabase, type PrismaQueries, prismaDialect, tableHandler } from "portico/sql";
import { testClient } from "portico/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Body, bodyOf, ids, range, SECRET, target } from "../pagination/ways.ts";

// `npm run test:prisma` runs the walks of tables through a generated client. Here, `pg` has the client's two methods.
interface Tables {
  books: { id: number; title: string; copies: string | null; created_at: Date };
}
const schema = `portico_prisma_${randomUUID().slice(0, 8)}`;
const config = { host: "127.0.0.1", user: "postgres", database: "test", max: 2 };
const pool = new Pool({ ...config, options: `-c search_path=${schema}` });
const failing = (cause: object): Promise<never> =>
  Promise.reject(Object.assign(new Error("Raw query failed"), { meta: { driverAdapterError: { cause } } }));
const prisma: PrismaQueries = {
  $queryRawUnsafe: async (text, ...values) => {
    const { rows } = await pool
      .query<Record<string, unknown>>(text, values)
      .catch(({ code, message }) => failing({ originalCode: code, originalMessage: message }));
    return rows.map((row) =>
      "copies" in row ? { ...row, copies: row["copies"] && BigInt(row["copies"] as string) } : row,
    );
  },
  $executeRawUnsafe: async (text, ...values) => (await pool.query(text, values)).rowCount ?? 0,
};
const database = new Kysely<Tables>({ dialect: prismaDialect(prisma) });

beforeAll(async () => {
  await pool.query(`create schema ${schema}`);
  await sql`create table books (id integer primary key, title text not null, copies bigint, created_at timestamptz(6) not null)`.execute(
    database,
  );
  // Two rows in each microsecond.
  await sql`insert into books select i, 'Book ' || i, nullif(i % 3, 0), timestamptz '2024-01-01' + (i / 2) * interval '1 microsecond' from generate_series(1, 45) i`.execute(
    database,
  );
});
afterAll(async () => {
  await pool.query(`drop schema ${schema} cascade`);
  await pool.end();
});

it("walks a table forward and backward, and counts it", async () => {
  const strategy = new CursorPagination({ order: [["created_at", "asc"]], defaultPageSize: 7 });
  const books = () => tableHandler(database.selectFrom("books").selectAll());
  const client = testClient(
    new PorticoApp({ logger: false, cursorKeys: [SECRET] })
      .get("/books", ({ response }) => response.apaginate(books(), { strategy }))
      .get("/pages", ({ response }) => response.apaginate(books())),
  );
  const get = async (link: string): Promise<Body<any>> => bodyOf<any>(await client.get(link));

  let body = await get("/books");
  expect(body.items[0]).toMatchObject({ id: 1, copies: "1" });
  const forward = [...ids(body)];
  while (body.pagination.links.next !== undefined) {
    body = await get(target(body.pagination.links.next));
    forward.push(...ids(body));
  }
  const backward = [...ids(body)];
  while (body.pagination.links.prev !== undefined) {
    body = await get(target(body.pagination.links.prev));
    backward.unshift(...ids(body));
  }

  expect(forward).toEqual(range(1, 45));
  expect(backward).toEqual(range(1, 45));
  expect(await get("/pages?page=3")).toMatchObject({ pagination: { total_items: 45 } });
});

it("counts the rows that a statement changed, and returns those it asked for", async () => {
  const { numUpdatedRows } = await database
    .updateTable("books")
    .set({ title: "New" })
    .where("id", "<=", 2)
    .executeTakeFirst();
  const returned = await database
    .updateTable("books")
    .set({ title: "Newer" })
    .where("id", "=", 1)
    .returning("title")
    .execute();

  expect([numUpdatedRows, returned]).toEqual([2n, [{ title: "Newer" }]]);
});

it("reports the error of the database, and an unreachable one as 503", async () => {
  await expect(sql`select ${"no"}::integer`.execute(database)).rejects.toMatchObject({ code: "22P02" });
  await expect(sql`select ${"\0"}`.execute(database)).rejects.toMatchObject({ code: "BAD_REQUEST", status: 400 });
  const lost = { ...prisma, $queryRawUnsafe: () => failing({ kind: "DatabaseNotReachable" }) };
  await expect(sql`select 1`.execute(new Kysely({ dialect: prismaDialect(lost) }))).rejects.toMatchObject({
    status: 503,
  });
  const odd = { ...prisma, $queryRawUnsafe: () => Promise.reject(new TypeError("no engine")) };
  await expect(sql`select 1`.execute(new Kysely({ dialect: prismaDialect(odd) }))).rejects.toThrow("no engine");
});

it("starts no transaction on the client of one, and cannot stream", async () => {
  await expect(openDatabase(database).begin()).rejects.toThrow(
    "a client of a Prisma transaction starts no other: pass the PrismaClient to prismaDialect",
  );
  await expect(Array.fromAsync(database.selectFrom("books").selectAll().stream())).rejects.toThrow("cannot stream");
});

it.each([
  ["no client", () => prismaDialect({} as never), "prismaDialect.prisma must be a PrismaClient"],
  ["an unknown engine", () => prismaDialect(prisma, "oracle" as never), 'prismaDialect.engine must be "postgres"'],
])("rejects %s", (_name, open, sentence) => {
  expect(open).toThrow(sentence);
});
