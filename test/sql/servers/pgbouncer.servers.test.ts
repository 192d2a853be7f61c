import { randomBytes } from "node:crypto";
import { Kysely, PostgresDialect, sql } from "kysely";
import { Pool } from "pg";
import { PorticoApp, topic } from "portico";
import { authentication } from "portico/auth";
import { CursorPagination } from "portico/pagination";
import {
  type Database,
  type DatabaseOptions,
  migrate,
  openDatabase,
  sqlStores,
  tableHandler,
  userModel,
} from "portico/sql";
import { logCatcher, testClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { PgBouncer } from "../../../lab/servers/pgbouncer.ts";
import { counterContract, keyValueContract, pubSubContract } from "../../stores/contract.ts";
import { newPlace, type Place } from "../accounts/databases.ts";

describe.each(["transaction", "session"] as const)("through PgBouncer in %s mode", (mode) => {
  let place: Place;
  let pooler: PgBouncer;
  let database: Database<any>;
  let shared: DatabaseOptions;
  beforeAll(async () => {
    place = await newPlace("PostgreSQL");
    pooler = await PgBouncer.start(mode, decodeURIComponent(place.url).split("search_path=")[1] ?? "");
    shared = mode === "transaction" ? { namedStatements: false, directUrl: place.url } : {};
    database = openDatabase<any>(pooler.url, { poolSize: 8, timeoutSeconds: 60, ...shared });
    await migrate(database, "up");
    await sql`create table books (id int primary key, title text not null, shelf int not null)`.execute(database);
    await sql`insert into books select n, 'book ' || n, n % 7 from generate_series(1, 500) as n`.execute(database);
  });
  afterAll(async () => {
    await database?.destroy();
    await pooler?.remove();
    await place?.remove();
  });

  keyValueContract("sqlStores().durable", () => ({ store: sqlStores(database).durable }));
  counterContract("sqlStores().counters", () => ({ counters: sqlStores(database).counters }));
  pubSubContract("sqlStores().bus", () => {
    const { bus } = sqlStores(database);
    return {
      bus,
      lose: async (lost) => {
        for (let n = 0; n < 1_100; n++) await bus.publish(lost, n);
      },
      close: () => bus.close?.(),
    };
  });

  it("finds the schema again on a connection that another client has left", async () => {
    const { rows } = await sql<{ books: number }>`select count(*)::int as books from books`.execute(database);
    for (let client = 0; client < 3; client++) {
      const other = openDatabase<any>(pooler.url, shared);
      const found = await sql`select count(*)::int as books from books`.execute(other);
      await other.destroy();
      expect(found.rows).toEqual(rows);
    }
  });

  it("signs in, walks a list from many callers at once, and rolls a transaction back", async () => {
    const User = userModel(database);
    const app = new PorticoApp({
      stores: sqlStores(database),
      cursorKeys: [randomBytes(32).toString("hex")],
      publicUrl: "http://localhost",
      logger: false,
      // A busy machine would shed some of the requests.
      load: { report: true },
    });
    onTestFinished(() => app.close());
    app.use(
      authentication({
        userModel: User,
        secret: randomBytes(32).toString("hex"),
        audience: "shop",
        accounts: "/account",
      }),
    );
    const strategy = new CursorPagination({
      order: [
        ["shelf", "desc"],
        ["id", "desc"],
      ],
    });
    app.get("/books", ({ response }) =>
      response.apaginate(tableHandler(database.selectFrom("books").selectAll()), { strategy }),
    );
    app.post("/rolled-back", async () => {
      await database
        .transaction()
        .execute(async (trx) => {
          await trx.deleteFrom("books").execute();
          throw new Error("no");
        })
        .catch(() => {});
    });
    const client = testClient(app);
    await client.post("/account/register", { body: { email: "ann@example.org", password: "a long password of ann" } });
    const signedIn = await client.post("/account/login", {
      body: { identifier: "ann@example.org", password: "a long password of ann" },
    });
    expect(signedIn.status).toBe(200);
    await client.post("/rolled-back");

    const walk = async (): Promise<number> => {
      let count = 0;
      let next: string | undefined = "/books";
      while (next !== undefined) {
        const page = (await client.get(next)).json() as {
          items: unknown[];
          pagination: { next_cursor?: string | null };
        };
        count += page.items.length;
        const cursor = page.pagination.next_cursor;
        next = cursor ? `/books?cursor=${encodeURIComponent(cursor)}` : undefined;
      }
      return count;
    };

    expect(await Promise.all(Array.from({ length: 12 }, walk))).toEqual(Array.from({ length: 12 }, () => 500));
  });
});

describe("through PgBouncer in transaction mode with default options", () => {
  it("answers every read, and warns once that named statements are lost", async () => {
    const place = await newPlace("PostgreSQL");
    onTestFinished(() => place.remove());
    const pooler = await PgBouncer.start("transaction", decodeURIComponent(place.url).split("search_path=")[1] ?? "");
    onTestFinished(() => pooler.remove());
    const database = openDatabase<any>(pooler.url, { timeoutSeconds: 60 });
    onTestFinished(() => database.destroy());
    await sql`create table books (id int primary key)`.execute(database);
    await sql`insert into books select n from generate_series(1, 50) as n`.execute(database);
    const log = logCatcher();
    const app = new PorticoApp({ logger: log });
    const strategy = new CursorPagination({ order: [["id", "asc"]] });
    app.get("/books", ({ response }) =>
      response.apaginate(tableHandler(database.selectFrom("books").selectAll()), { strategy }),
    );
    const client = testClient(app);

    const statuses = await Promise.all(Array.from({ length: 200 }, async () => (await client.get("/books")).status));

    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(log.lines.map(({ msg }) => msg).filter((msg) => msg.includes("named statements"))).toHaveLength(1);
  });
});

describe("directUrl", () => {
  it("brings events to a Kysely instance", async () => {
    const place = await newPlace("PostgreSQL");
    onTestFinished(() => place.remove());
    const schema = decodeURIComponent(place.url).split("search_path=")[1];
    const pool = new Pool({
      connectionString: "postgres://root@127.0.0.1:5432/test",
      options: `-c search_path=${schema}`,
    });
    const kysely = new Kysely<any>({ dialect: new PostgresDialect({ pool }) });
    onTestFinished(() => kysely.destroy());
    const { bus } = sqlStores(openDatabase(kysely, { directUrl: place.url }));
    onTestFinished(() => bus.close?.());
    const news = topic<number>("news");
    const first = bus.subscribe(news)[Symbol.asyncIterator]().next();
    await bus.settled();

    await bus.publish(news, 7);

    expect((await first).value).toBe(7);
  });

  it.each([
    [
      "a URL of another kind",
      () => openDatabase("postgres://h/d", { directUrl: "redis://:hunter2@h" }),
      "openDatabase.directUrl must be a URL such as postgres://",
    ],
    [
      "SQLite",
      () => openDatabase("sqlite::memory:", { directUrl: "postgres://h/d" }),
      "openDatabase.directUrl is an option for PostgreSQL",
    ],
  ])("is rejected for %s", (_, open, sentence) => {
    expect(open).toThrow(sentence);
    expect(open).not.toThrow(/hunter2/);
  });
});
