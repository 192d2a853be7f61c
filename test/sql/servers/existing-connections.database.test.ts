import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { CamelCasePlugin, Kysely, MysqlDialect, PostgresDialect, SqliteDialect, sql } from "kysely";
import { Pool } from "pg";
import { PorticoApp, topic } from "portico";
import { type Database, migrate, openDatabase, sqlStores, type Transaction, transaction, userModel } from "portico/sql";
import { testClient } from "portico/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { nodeSqlite } from "../../../lab/servers/node-sqlite.ts";
import { newPlace, onServer, type Place } from "../accounts/databases.ts";

interface Tables {
  order_lines: { line_no: number };
}
type Opened = { readonly database: Database<any>; readonly close: () => Promise<unknown> };

let place: Place;
beforeAll(async () => {
  place = await newPlace("PostgreSQL");
  await sql`create table order_lines (line_no integer)`.execute(place.open());
});
afterAll(() => place?.remove());

const ways = {
  "a pool of pg": async () => {
    const pool = new Pool({ connectionString: place.url, max: 4 });
    return { database: openDatabase(pool), close: () => pool.end() };
  },
  "a Kysely instance on PostgreSQL": async () => {
    const dialect = new PostgresDialect({ pool: new Pool({ connectionString: place.url, max: 4 }) });
    const kysely = new Kysely<Tables>({ dialect });
    return { database: openDatabase(kysely, { poolSize: 4 }), close: () => kysely.destroy() };
  },
  "a Kysely instance on SQLite": async () => {
    const kysely = new Kysely<Tables>({
      dialect: new SqliteDialect({ database: nodeSqlite(new DatabaseSync(":memory:")) }),
    });
    await sql`create table order_lines (line_no integer)`.execute(kysely);
    return { database: openDatabase(kysely), close: () => kysely.destroy() };
  },
  "a URL": async () => {
    const database = openDatabase(place.url, { poolSize: 4 });
    return { database: database as Database<any>, close: () => database.destroy() };
  },
} satisfies Readonly<Record<string, () => Promise<Opened>>>;

describe.each(Object.entries(ways))("openDatabase with %s", (_name, open) => {
  let opened: Opened;
  const count = async (): Promise<number> => {
    const { rows } = await sql<{ count: unknown }>`select count(*) as count from order_lines`.execute(opened.database);
    return Number(rows[0]?.count);
  };
  beforeAll(async () => {
    opened = await open();
  });
  afterEach(() => sql`delete from order_lines`.execute(opened.database));
  afterAll(() => opened?.close());

  it("has transactions of the request, which end with it", async () => {
    const inTransaction = transaction(opened.database);
    const app = new PorticoApp({ logger: false }).post(
      "/:outcome",
      { params: { trx: inTransaction } },
      async ({ trx, path }) => {
        await trx.insertInto("order_lines").values({ line_no: 1 }).execute();
        const seen = await opened.database.current().selectFrom("order_lines").selectAll().execute();
        if (path.outcome === "bad") throw new Error("no");
        return seen.length;
      },
    );
    const client = testClient(app);

    expect((await client.post("/bad")).status).toBe(500);
    expect(await count()).toBe(0);
    expect((await client.post("/good")).json()).toBe(1);
    expect(await count()).toBe(1);
  });

  it("limits its transactions, so that statements outside one get a connection", async () => {
    const rest = new Set(Array.from({ length: 4 }, () => opened.database.begin()));
    const held: Transaction[] = [];
    for (const waiting of rest) void waiting.then((trx) => held.push(trx));
    await vi.waitUntil(() => held.length > 0, 60_000);
    await sleep(50);
    // The connection of the SQLite instance is the one that the transaction holds.
    expect(await (held.length > 1 ? count() : 0)).toBe(0);

    expect(held.length).toBeLessThan(4);
    for (const waiting of rest) await (await waiting).end("failure");
  });

  it("passes its plugins to transactions and to the current one", async () => {
    const database = opened.database.withPlugin(new CamelCasePlugin());
    const add = async (trx: Database<any>): Promise<unknown> => {
      await trx.insertInto("orderLines").values({ lineNo: 7 }).execute();
      return database.current().selectFrom("orderLines").selectAll().execute();
    };
    const app = new PorticoApp({ logger: false })
      .post("/current", { params: { trx: transaction(database) } }, ({ trx }) => add(trx))
      .post("/savepoint", { params: { trx: transaction(database) } }, async ({ trx }) => {
        const inner = await trx.begin();
        await inner.insertInto("orderLines").values({ lineNo: 8 }).execute();
        await inner.end("failure");
        await expect(inner.selectFrom("orderLines").selectAll().execute()).rejects.toThrow("already ended");
        await expect(inner.executeQuery(sql`select 1`.compile(database))).rejects.toThrow("already ended");
        return trx.selectFrom("orderLines").select("lineNo").execute();
      })
      .post("/events", async () => {
        await database.transaction().execute((trx) => trx.insertInto("orderLines").values({ lineNo: 9 }).execute());
        return database.connection().execute((one) => one.selectFrom("orderLines").select("lineNo").execute());
      });
    const client = testClient(app);

    expect((await client.post("/current")).json()).toEqual([{ lineNo: 7 }]);
    expect((await client.post("/savepoint")).json()).toEqual([{ lineNo: 7 }]);
    expect((await client.post("/events")).json()).toEqual([{ lineNo: 7 }, { lineNo: 9 }]);
    expect(await database.withoutPlugins().selectFrom("order_lines").select("line_no").execute()).toHaveLength(2);
    expect(await opened.database.selectFrom("order_lines").select("line_no").execute()).toHaveLength(2);
  });

  it("runs work after the commit of a transaction with plugins", async () => {
    const database = opened.database.withPlugin(new CamelCasePlugin());
    const done: string[] = [];
    for (const outcome of ["failure", "success"] as const) {
      const trx = await database.begin();
      trx.afterCommit(() => done.push(outcome));
      await trx.end(outcome);
    }
    expect(done).toEqual(["success"]);
  });
});

describe("a database with plugins", () => {
  it("is used by migrations, users and stores without them", async () => {
    const other = await newPlace("PostgreSQL");
    const database = other.open().withPlugin(new CamelCasePlugin());
    await migrate(database, "up");
    const User = userModel(database);
    const ann = await User.objects.createUser({
      email: "ann@shop.example",
      username: "ann",
      password: "correct horse",
    });

    expect(await User.objects.get({ email: "ann@shop.example" })).toMatchObject({ id: ann.id });
    const trx = await database.begin();
    await User.objects.within(trx).grant(ann, { permissions: ["read:books"] });
    await trx.end("success");
    expect([...((await User.loadUser(ann.id))?.permissions ?? [])]).toEqual(["read:books"]);
    const { durable } = sqlStores(database);
    await durable.set("key", "kept");
    expect(await durable.get("key")).toBe("kept");
    await other.remove();
  });
});

describe("an existing pool", () => {
  it("is left open by destroy, receives events, and keeps the process alive when connections are lost", async () => {
    const pool = new Pool({ connectionString: place.url, max: 2, application_name: "existing_pool_test" });
    const database = openDatabase(pool);
    const { bus } = sqlStores(database);
    const Greeting = topic<string>("greeting");
    const events = bus.subscribe(Greeting)[Symbol.asyncIterator]();
    const first = events.next();
    await bus.settled?.();
    await bus.publish(Greeting, "hello");
    expect((await first).value).toBe("hello");
    await bus.close?.();

    const trx = await database.begin();
    await sql`select 1`.execute(trx);
    await onServer("select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1", [
      "existing_pool_test",
    ]);
    await sleep(100);
    await expect(sql`select 1`.execute(trx)).rejects.toMatchObject({ status: 503 });
    await trx.end("failure").catch(() => {});
    expect((await sql<{ one: number }>`select 1 as one`.execute(database)).rows).toEqual([{ one: 1 }]);

    await database.destroy();
    expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });
});

describe("openDatabase rejects", () => {
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: async () => new Pool() }) });
  const mysql = new Kysely<Tables>({
    dialect: new MysqlDialect({ pool: async () => Promise.reject(new Error("none")) }),
  });

  it.each([
    ["a size", () => openDatabase(new Pool(), { poolSize: 3 }), "openDatabase.poolSize is an option of a pool that"],
    [
      "a time",
      () => openDatabase(new Pool(), { statementSeconds: 3 }),
      "openDatabase.statementSeconds is an option of",
    ],
    [
      "a log",
      () => openDatabase(kysely, { onStatement: () => {} } as object),
      "openDatabase.onStatement is an option of a Kysely instance: set it there",
    ],
    ["MySQL", () => openDatabase(mysql), "openDatabase.source must be a Kysely instance on PostgreSQL or SQLite"],
    ["a number", () => openDatabase(5 as never), "openDatabase.url must be postgres://user@host/name"],
    ["null", () => openDatabase(null as never), "openDatabase.url must be postgres://user@host/name"],
    ["stores on Kysely", () => sqlStores(openDatabase(kysely)), "sqlStores.database cannot receive events on a Kysely"],
  ])("%s", (_name, open, sentence) => {
    expect(open).toThrow(sentence);
  });

  it("a SQLite file in a folder that doesn't exist, with the first statement", async () => {
    const database = openDatabase("sqlite:/no/such/folder/shop.db");

    await expect(sql`select 1`.execute(database)).rejects.toThrow(
      "openDatabase.url names /no/such/folder/shop.db, which can't be created or opened",
    );
  });
});
