import { Depend, PorticoApp, provide } from "portico";
import { field, Graph, loader, mutation, type ObjectType, object, schema, t } from "portico/graphql";
import type { Database, PorticoTables, Transaction } from "portico/sql";
import { testClient } from "portico/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newPlace, type Place } from "../accounts/databases.ts";

interface Tables extends PorticoTables {
  books: { title: string; stock: number };
}

let place: Place;
let database: Database<Tables>;
beforeAll(async () => {
  place = await newPlace("PostgreSQL");
  database = place.open<Tables>();
  await database.schema.createTable("books").addColumn("title", "text").addColumn("stock", "integer").execute();
});
beforeEach(async () => {
  await database.deleteFrom("books").execute();
  await database.insertInto("books").values({ title: "Emma", stock: 3 }).execute();
});
afterAll(() => place.remove());

const unitOfWork = provide(async function* ({ ctx }) {
  const trx = await database.begin();
  try {
    yield trx;
  } finally {
    await trx.end(ctx.outcome);
  }
});
const stockOf = async (on: Database<Tables> = database.current()): Promise<number | undefined> =>
  (await on.selectFrom("books").select("stock").where("title", "=", "Emma").executeTakeFirst())?.stock;
const sell = (trx: Database<Tables>): Promise<unknown> =>
  trx
    .updateTable("books")
    .set((eb) => ({ stock: eb("stock", "-", 1) }))
    .execute();

function build(): PorticoApp {
  const byTitle = loader(async (titles: readonly string[]) => {
    const stock = await stockOf();
    return titles.map(() => stock ?? -1);
  });
  const Book: ObjectType<{ title: string }> = object("Book", {
    title: t.string,
    stock: field(t.int)(({ ctx, parent }) => byTitle.load(ctx, parent.title)),
  });
  const query = { book: field(Book)(() => ({ title: "Emma" })) };
  const sellBook = mutation(Book, { params: { fails: t.boolean(false), trx: Depend(unitOfWork) } })(
    async ({ trx, fails }) => {
      await sell(trx);
      if (fails) throw new Error(`with ${await stockOf()} left`);
      return { title: "Emma" };
    },
  );
  const app = new PorticoApp({ logger: false });
  new Graph(schema({ query, mutation: { sellBook } }), { debug: true }).mount(app);
  app.post("/sell", { params: { trx: Depend(unitOfWork) } }, async ({ trx }) => {
    await sell(trx);
    const inner = await trx.begin();
    await sell(inner);
    const within = [await stockOf(), await stockOf(inner.current()), await stockOf(database)];
    await inner.end("failure");
    return [...within, await stockOf()];
  });
  app.post("/twice", async () => {
    const first: Transaction<Tables> = await database.begin();
    await sell(first);
    const second = await database.begin();
    const during = database.current() === second;
    await second.end("success");
    const after = database.current() === first;
    await first.end("failure");
    return [during, after, database.current() === database];
  });
  return app;
}

describe("the current transaction", () => {
  it("lets the fields below a mutation see its changes before anyone else does", async () => {
    const client = testClient(build());

    const sold = await client.graphql("mutation { sellBook { stock } }");
    const failed = await client.graphql("mutation { sellBook(fails: true) { stock } }");
    const read = await client.graphql("{ book { stock } }");

    expect(sold.data).toEqual({ sellBook: { stock: 2 } });
    expect(failed.errors?.[0]?.message).toBe("with 1 left");
    expect(read.data).toEqual({ book: { stock: 2 } });
  });

  it("belongs to its own operation: each entry of a batch sees what earlier ones have committed", async () => {
    const body = [
      "mutation { sellBook { stock } }",
      "mutation { sellBook(fails: true) { stock } }",
      "{ book { stock } }",
    ];

    const answers = await testClient(build()).post("/graphql", { body: body.map((query) => ({ query })) });

    expect(answers.json()).toMatchObject([
      { data: { sellBook: { stock: 2 } } },
      { errors: [{ message: "with 1 left" }] },
      { data: { book: { stock: 2 } } },
    ]);
  });

  it("is the request's transaction on a route, savepoints included, while the pool does not see it", async () => {
    const answer = await testClient(build()).post("/sell");

    expect(answer.json()).toEqual([1, 1, 3, 2]);
    expect(await stockOf(database)).toBe(2);
  });

  it("is the newest open transaction, or the pool if there is none", async () => {
    expect((await testClient(build()).post("/twice")).json()).toEqual([true, true, true]);
  });

  it("is the pool outside a request, even while a transaction is open", async () => {
    const trx = await database.begin();

    expect(database.current()).toBe(database);
    expect(trx.current()).toBe(trx);
    await trx.end("failure");
  });
});
