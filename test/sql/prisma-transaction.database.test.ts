import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Kysely } from "kysely";
import { Pool } from "pg";
import { HttpException, PorticoApp, topic } from "portico";
import {
  type PrismaQueries,
  type PrismaTransactions,
  prismaDialect,
  prismaTransaction,
  tableHandler,
} from "portico/sql";
import { testClient } from "portico/testing";
import { afterAll, beforeAll, expect, it } from "vitest";

// The client is a generated one in `npm run test:prisma`. Otherwise, `pg` has its methods.
interface Tx extends PrismaQueries {
  readonly book: {
    create(of: { readonly data: { readonly id: number; readonly title: string } }): PromiseLike<unknown>;
  };
}
type Client = PrismaTransactions<Tx> & { $disconnect(): Promise<void> };

const schema = `portico_prisma_tx_${randomUUID().slice(0, 8)}`;
const config = { host: "127.0.0.1", user: "postgres", database: "test", max: 2, options: `-c search_path=${schema}` };
const pool = new Pool(config);
const added = topic<{ readonly id: number }>("prisma.books.added");
const heard: { readonly id: number; readonly isThere: boolean }[] = [];
const end = new AbortController();
/** Inside the transaction: how many events were received, and its isolation. */
const seen: unknown[] = [];

async function openClient(): Promise<Client> {
  const module = process.env["PORTICO_PRISMA"];
  return module === undefined
    ? overPg
    : ((await import(module)) as { openPrisma(of: object): Client }).openPrisma(config);
}

const overPg: Client = {
  async $transaction(work) {
    const client = await pool.connect();
    const rows = async (text: string, values: unknown[]): Promise<any> => (await client.query(text, values)).rows;
    try {
      await client.query("begin isolation level serializable");
      const result: unknown = await work({
        $queryRawUnsafe: (text, ...values) => rows(text, values),
        $executeRawUnsafe: (text, ...values) => rows(text, values),
        book: { create: ({ data }) => rows("insert into books values ($1, $2)", [data.id, data.title]) },
      });
      await client.query("commit");
      return result;
    } catch (error) {
      await client.query("rollback");
      throw error;
    } finally {
      client.release();
    }
  },
  $disconnect: async () => {},
};

const prisma: Client = await openClient();
const inTransaction = prismaTransaction(prisma, { isolationLevel: "Serializable", timeout: 20_000 });
const app = new PorticoApp({ logger: false });
app.onStart(() => void listen());
app.post("/books/:id", { params: { tx: inTransaction } }, async ({ ctx, tx, path }) => {
  const id = Number(path.id);
  await tx.book.create({ data: { id, title: "Emma" } });
  await ctx.pubsub.publish(added, { id });
  await sleep(20);
  seen.push(heard.length);
  seen.push(...((await tx.$queryRawUnsafe("show transaction_isolation")) as unknown[]));
  if (id === 13) throw new HttpException(409, "refused");
  const database = new Kysely<{ books: { id: number } }>({ dialect: prismaDialect(tx) });
  return { total: await tableHandler(database.selectFrom("books").selectAll()).getTotalItems() };
});
const client = testClient(app);

/** The received events, and whether another connection can read the row at that moment. */
async function listen(): Promise<void> {
  for await (const { id } of app.pubsub.subscribe(added, { signal: end.signal })) {
    const { rows } = await pool.query("select from books where id = $1", [id]);
    heard.push({ id, isThere: rows.length > 0 });
  }
}

beforeAll(async () => {
  await pool.query(`create schema ${schema}`);
  await pool.query("create table books (id integer primary key, title text not null)");
});
afterAll(async () => {
  end.abort();
  await app.close();
  await prisma.$disconnect();
  await pool.query(`drop schema ${schema} cascade`);
  await pool.end();
});

it("on PostgreSQL, a request that fails is undone and its events are dropped; another is committed and publishes them", async () => {
  expect((await client.post("/books/13")).status).toBe(409);
  const { rows } = await pool.query("select * from books");
  expect(rows).toEqual([]);

  const response = await client.post("/books/1");

  expect([response.status, response.json()]).toEqual([200, { total: 1 }]);
  expect(seen.slice(-2)).toEqual([0, { transaction_isolation: "serializable" }]);
  await expect.poll(() => heard).toEqual([{ id: 1, isThere: true }]);
});
