import { PorticoApp } from "portico";
import { field, Graph, mutation, schema, t } from "portico/graphql";
import { type Database, type PorticoTables, type Transaction, transaction } from "portico/sql";
import { type LogCatcher, logCatcher, testClient } from "portico/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { engineNames, newPlace, type Place } from "../accounts/databases.ts";

interface Tables extends PorticoTables {
  books: { title: string };
}

describe.each(engineNames)("transaction(database) on %s", (engine) => {
  let place: Place;
  let database: Database<Tables>;
  let app: PorticoApp;
  let log: LogCatcher;
  let done: string[];
  const transactions = new Set<Transaction<Tables>>();
  beforeAll(async () => {
    place = await newPlace(engine);
    database = place.open<Tables>();
    await database.schema.createTable("books").addColumn("title", "text").execute();
  });
  afterAll(() => place.remove());
  beforeEach(async () => {
    await database.deleteFrom("books").execute();
    done = [];
    transactions.clear();
    log = logCatcher();
    app = new PorticoApp({ logger: log });
    const inTransaction = transaction(database);
    const add = async (trx: Transaction<Tables>, title: string): Promise<void> => {
      transactions.add(trx);
      await trx.insertInto("books").values({ title }).execute();
      trx.afterCommit(async () => done.push(`${title}, ${(await titles()).length} stored`));
    };
    app.post("/books/:title", { params: { trx: inTransaction } }, async ({ trx, path }) => {
      await add(trx, path.title);
      if (path.title === "bad") throw new Error("no such book");
      return "added";
    });
    app.post("/savepoint", { params: { trx: inTransaction } }, async ({ trx }) => {
      const inner = await trx.begin();
      await add(inner, "inner");
      await inner.end("failure");
      await add(trx, "outer");
    });
    app.post("/unreachable", { params: { trx: inTransaction } }, async () => {
      database.afterCommit(() => {
        throw new Error("the mail server is down");
      });
      return "stored";
    });
    const addBook = mutation(t.int, { params: { title: t.string, trx: inTransaction } })(async ({ title, trx }) => {
      await add(trx, title);
      return 1;
    });
    new Graph(schema({ query: { one: field(t.int)(() => 1) }, mutation: { addBook } })).mount(app);
  });

  async function titles(): Promise<readonly string[]> {
    const rows = await database.selectFrom("books").select("title").orderBy("title").execute();
    return rows.map(({ title }) => title);
  }

  it("commits before the response, and then runs the work for it", async () => {
    const { status } = await testClient(app).post("/books/Emma");

    expect([status, await titles(), done]).toEqual([200, ["Emma"], ["Emma, 1 stored"]]);
  });

  it("rolls back a failed request, and does not run the work", async () => {
    const { status } = await testClient(app).post("/books/bad");

    expect([status, await titles(), done]).toEqual([500, [], []]);
  });

  it("drops the work of a savepoint that is rolled back", async () => {
    await testClient(app).post("/savepoint");

    expect([await titles(), done]).toEqual([["outer"], ["outer, 1 stored"]]);
  });

  it("is one transaction for all fields of an operation", async () => {
    const query = 'mutation { a: addBook(title: "a") b: addBook(title: "b") }';
    await testClient(app).post("/graphql", { body: { query } });

    expect([await titles(), done, transactions.size]).toEqual([["a", "b"], ["a, 2 stored", "b, 2 stored"], 1]);
  });

  it("logs work that fails, because the data is stored", async () => {
    const response = await testClient(app).post("/unreachable");

    expect([response.status, response.text()]).toEqual([200, '"stored"']);
    expect(log.lines).toContainEqual(
      expect.objectContaining({ level: "error", msg: "work after the commit of a transaction failed" }),
    );
  });

  it("runs work at once where there is no transaction", async () => {
    database.afterCommit(() => done.push("at once"));
    await Promise.resolve();

    expect(done).toEqual(["at once"]);
  });
});
