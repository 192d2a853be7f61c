import { Pool } from "pg";
import { type Dependency, HttpException, memoryStores, PorticoApp, topic } from "portico";
import { drizzleTransaction } from "portico/drizzle";
import { outbox, type PrismaQueries, type PrismaTransactions, prismaTransaction } from "portico/sql";
import { testClient } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";
import { openDrizzle } from "../../../lab/servers/drizzle-databases.ts";
import { migratedPlace, type Place } from "../accounts/databases.ts";

const added = topic<{ title: string }>("other-transactions.added", { keep: "1h" });

/** The titles in the events of the outbox, after a transaction that was committed and one that was rolled back. */
async function eventsAfter(place: Place, inTransaction: Dependency<any>): Promise<readonly unknown[]> {
  const database = place.open<any>();
  const bus = outbox(database, memoryStores().bus);
  const app = new PorticoApp({ logger: false, stores: { ...memoryStores(), bus } });
  app.post("/books/:title", { params: { tx: inTransaction } }, async ({ ctx, path: { title } }) => {
    await ctx.pubsub.publish(added, { title });
    await ctx.pubsub.publish(added, { title: `${title} '$1 ?` });
    if (title === "refused") throw new HttpException(409, "refused");
  });
  const client = testClient(app);
  const statuses = [(await client.post("/books/refused")).status, (await client.post("/books/Emma")).status];
  expect(statuses).toEqual([409, 204]);
  const rows = await database.selectFrom("portico_events").select("payload").orderBy("seq").execute();
  await app.close();
  return rows.map(({ payload }) => JSON.parse(payload).title as string);
}

it.each(["PostgreSQL", "SQLite"] as const)("writes events in a Drizzle transaction on %s", async (name) => {
  const place = await migratedPlace(name);
  onTestFinished(() => place.remove());
  const address =
    name === "SQLite" ? place.url.replace("sqlite:", "") : decodeURIComponent(place.url).split("=").at(-1);
  const opened = openDrizzle({ name, address: String(address) });
  onTestFinished(() => opened.close());

  expect(await eventsAfter(place, drizzleTransaction(opened.db))).toEqual(["Emma", "Emma '$1 ?"]);
});

it("writes events in a Prisma transaction", async () => {
  const place = await migratedPlace("PostgreSQL");
  const pool = new Pool({ connectionString: place.url, max: 2 });
  onTestFinished(async () => {
    await pool.end();
    await place.remove();
  });
  const prisma: PrismaTransactions<PrismaQueries> = {
    async $transaction(work) {
      const client = await pool.connect();
      const rows = async (text: string, values: unknown[]): Promise<any> => (await client.query(text, values)).rows;
      try {
        await client.query("begin isolation level serializable");
        const result: unknown = await work({
          $queryRawUnsafe: (text, ...values) => rows(text, values),
          $executeRawUnsafe: (text, ...values) => rows(text, values),
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
  };

  expect(await eventsAfter(place, prismaTransaction(prisma))).toEqual(["Emma", "Emma '$1 ?"]);
});
