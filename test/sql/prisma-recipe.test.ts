import { randomUUID } from "node:crypto";
import { Pool } from "pg";
import { PorticoApp } from "portico";
import { AsyncDataHandler, type CursorMetadata, type Seekable, type SeekRequest } from "portico/pagination";
import { testClient } from "portico/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Body, bodyOf, ids, range, SECRET, target } from "../pagination/ways.ts";

interface Book {
  readonly id: number;
  readonly title: string;
  readonly createdAt: string;
}
/** The part of a PrismaClient that the recipe needs. */
interface RawQueries {
  $queryRaw<T>(query: TemplateStringsArray, ...values: readonly unknown[]): PromiseLike<T>;
}

/** The recipe of the guide. */
class PrismaBooks extends AsyncDataHandler<Book> implements Seekable<Book> {
  override readonly name = "books";
  readonly uniqueKey = ["id"];
  readonly #prisma: RawQueries;
  constructor(prisma: RawQueries) {
    super();
    this.#prisma = prisma;
  }
  async getTotalItems(): Promise<number> {
    const [row] = await this.#prisma.$queryRaw<[{ total: number }]>`select count(*)::integer as total from books`;
    return row.total;
  }
  async getItems(offset: number, limit: number): Promise<readonly Book[]> {
    return this.#prisma.$queryRaw<Book[]>`
      select id, title, created_at::text as "createdAt" from books
      order by created_at, id offset ${offset} limit ${limit}`;
  }
  async getItemsAfter({ key, direction }: SeekRequest, limit: number): Promise<readonly Book[]> {
    const ends = direction === "forward" ? ["-infinity", "-2147483648"] : ["infinity", "2147483647"];
    const [createdAt, id] = (key ?? ends).map(String);
    return direction === "forward"
      ? this.#prisma.$queryRaw<Book[]>`
          select id, title, created_at::text as "createdAt" from books
          where (created_at, id) > (${createdAt}::text::timestamptz, ${id}::text::integer)
          order by created_at, id limit ${limit}`
      : this.#prisma.$queryRaw<Book[]>`
          select id, title, created_at::text as "createdAt" from books
          where (created_at, id) < (${createdAt}::text::timestamptz, ${id}::text::integer)
          order by created_at desc, id desc limit ${limit}`;
  }
}

const schema = `portico_prisma_${randomUUID().slice(0, 8)}`;
const pool = new Pool({
  host: "127.0.0.1",
  user: "postgres",
  database: "test",
  max: 1,
  options: `-c search_path=${schema}`,
});
/** Prisma downloads an engine to generate its client, so this test sends the same statements through `pg`. */
const overPg: RawQueries = {
  async $queryRaw<T>(query: TemplateStringsArray, ...values: readonly unknown[]): Promise<T> {
    const text = query.reduce((built, part, index) => `${built}$${index}${part}`);
    return (await pool.query(text, [...values])).rows as T;
  },
};

beforeAll(async () => {
  await pool.query(`create schema ${schema}`);
  await pool.query(
    "create table books (id integer primary key, title text not null, created_at timestamptz(6) not null)",
  );
  // Two rows in each microsecond.
  await pool.query(
    "insert into books select i, 'Book ' || i, timestamptz '2024-01-01' + (i / 2) * interval '1 microsecond' from generate_series(1, 45) i",
  );
});
afterAll(async () => {
  await pool.query(`drop schema ${schema} cascade`);
  await pool.end();
});

it("walks forward and backward with the statements of the guide's Prisma recipe", async () => {
  const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
  app.get("/books", ({ response }) =>
    response.apaginate(new PrismaBooks(overPg), { strategy: "cursor", sortField: "createdAt", defaultPageSize: 7 }),
  );
  app.get("/pages", ({ response }) => response.apaginate(new PrismaBooks(overPg)));
  const client = testClient(app);
  const get = async (link: string): Promise<Body<CursorMetadata>> => bodyOf<CursorMetadata>(await client.get(link));

  let body = await get("/books");
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
  expect(await get("/pages?page=3")).toMatchObject({
    items: range(41, 45).map((id) => ({ id })),
    pagination: { total_items: 45 },
  });
});
