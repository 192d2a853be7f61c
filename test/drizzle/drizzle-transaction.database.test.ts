import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { integer, pgTable } from "drizzle-orm/pg-core";
import { Pool } from "pg";
import { HttpException, PorticoApp, topic } from "portico";
import { drizzleHandler, drizzleTransaction } from "portico/drizzle";
import { field, Graph, mutation, schema, t } from "portico/graphql";
import { testClient } from "portico/testing";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";

const TABLE = `portico_drizzle_tx_${randomUUID().slice(0, 8)}`;
const books = pgTable(TABLE, { id: integer().primaryKey() });
const pool = new Pool({ host: "127.0.0.1", user: "postgres", database: "test", max: 2 });
const db = drizzle(pool);
const added = topic<{ id: number }>("drizzle.books.added");
const inTransaction = drizzleTransaction(db, { isolationLevel: "serializable" });
const end = new AbortController();
/** Inside the transaction: how many events were received, and its isolation. */
const seen: unknown[] = [];
let heard: { readonly id: number; readonly isThere: boolean }[] = [];

const app = new PorticoApp({ logger: false });
app.onStart(() => void listen());
app.post("/books/:id", { params: { tx: inTransaction } }, async ({ ctx, tx, path }) => {
  const id = Number(path.id);
  await tx.insert(books).values({ id });
  await ctx.pubsub.publish(added, { id });
  await sleep(20);
  seen.push(heard.length);
  const { rows } = await tx.execute(sql`show transaction_isolation`);
  seen.push(rows[0]);
  if (id === 13) throw new HttpException(409, "refused");
  return { total: await drizzleHandler(tx.select().from(books)).getTotalItems() };
});
const add = mutation(t.boolean, { params: { id: t.int, tx: inTransaction } })(async ({ ctx, id, tx }) => {
  await tx.insert(books).values({ id });
  await ctx.pubsub.publish(added, { id });
  if (id === 13) throw new HttpException(409, "refused");
  return true;
});
new Graph(schema({ query: { ok: field(t.boolean)(() => true) }, mutation: { add } })).mount(app);
const client = testClient(app);

/** The received events, and whether another connection can read the data at that moment. */
async function listen(): Promise<void> {
  for await (const { id } of app.pubsub.subscribe(added, { signal: end.signal })) {
    const rows = await db.select().from(books).where(sql`id = ${id}`);
    heard.push({ id, isThere: rows.length > 0 });
  }
}

beforeAll(() => pool.query(`create table ${TABLE} (id integer primary key)`));
beforeEach(async () => {
  await db.delete(books);
  heard = [];
});
afterAll(async () => {
  end.abort();
  await app.close();
  await pool.query(`drop table ${TABLE}`);
  await pool.end();
});

it("commits before the response, and publishes events after the commit", async () => {
  const response = await client.post("/books/1");
  const rows = await db.select().from(books);

  expect([response.status, response.json()]).toEqual([200, { total: 1 }]);
  expect(seen.slice(-2)).toEqual([0, { transaction_isolation: "serializable" }]);
  expect(rows).toEqual([{ id: 1 }]);
  await expect.poll(() => heard).toEqual([{ id: 1, isThere: true }]);
});

it("rolls back a failed request, and drops its events", async () => {
  expect((await client.post("/books/13")).status).toBe(409);
  await client.post("/graphql", { body: { query: "mutation { add(id: 13) }" } });
  await app.pubsub.publish(added, { id: 14 });

  expect(await db.select().from(books)).toEqual([]);
  await expect.poll(() => heard).toEqual([{ id: 14, isThere: false }]);
});

it("is one transaction for all fields of an operation", async () => {
  await client.post("/graphql", { body: { query: "mutation { a: add(id: 1) b: add(id: 2) }" } });

  await expect
    .poll(() => heard)
    .toEqual([
      { id: 1, isThere: true },
      { id: 2, isThere: true },
    ]);
});

it("reports a database that is unavailable", async () => {
  const lost = drizzle(new Pool({ host: "127.0.0.1", port: 1 }));
  const other = new PorticoApp({ logger: false });
  other.get("/", { params: { tx: drizzleTransaction(lost) } }, () => "never");

  expect((await testClient(other).get("/")).status).toBe(500);
});
