import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { DatabaseError } from "pg";
import { Conflict, Depend, HttpException, PorticoApp, provide } from "portico";
import { migrate, openDatabase, type PorticoTables, type SentStatement, sqlStores, tableHandler } from "portico/sql";
import { type LiveClient, liveClient, testClient } from "portico/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { engineNames, migratedPlace, newPlace, type Place } from "./databases.ts";

interface Tables extends PorticoTables {
  books: { id: number; title: string };
}

describe.each(engineNames)("a database on %s", (name) => {
  let place: Place;
  beforeEach(async () => {
    place = await migratedPlace(name);
  });
  afterEach(() => place?.remove());

  const open = async () => {
    const database = place.open<Tables>({ poolSize: 10 });
    await sql`create table books (id integer primary key, title text not null unique)`.execute(database);
    return database;
  };
  const titles = async (database: Awaited<ReturnType<typeof open>>): Promise<string[]> =>
    (await database.selectFrom("books").select("title").orderBy("id").execute()).map(({ title }) => title);

  it("keeps the changes of a transaction that ends with success, and of no other", async () => {
    const database = await open();

    for (const [id, outcome] of [
      [1, "success"],
      [2, "failure"],
      [3, "pending"],
    ] as const) {
      const trx = await database.begin();
      await trx.insertInto("books").values({ id, title: outcome }).execute();
      await trx.end(outcome);
      await trx.end("success");
    }

    expect(await titles(database)).toEqual(["success"]);
  });

  it("calls onStatement for every statement, including failed ones, without parameters", async () => {
    const sent: SentStatement[] = [];
    const database = place.open({ onStatement: (statement) => void sent.push(statement) });

    await sql`select ${"hunter2"} as word`.execute(database);
    await expect(sql`select * from nowhere where word = ${"hunter2"}`.execute(database)).rejects.toThrow("nowhere");
    const trx = await database.begin();
    await sql`select 3`.execute(trx);
    await trx.end("success");

    const texts = sent.map((statement) => statement.sql);
    expect(texts).toEqual([
      expect.stringMatching(/^select (\$1|\?) as word$/),
      expect.stringMatching(/^select \* from nowhere where word = (\$1|\?)$/),
      ...(name === "PostgreSQL" ? ["begin", "select 3", "commit"] : ["select 3"]),
    ]);
    expect(sent.every(({ durationSeconds }) => durationSeconds >= 0)).toBe(true);
    expect(JSON.stringify(sent)).not.toContain("hunter2");
  });

  it("keeps the effect of a statement if onStatement throws, and emits a process warning", async () => {
    const warnings: string[] = [];
    const warn = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", warn);
    const database = place.open<Tables>({
      onStatement() {
        throw new Error("no disk");
      },
    });

    const { rows } = await sql<{ one: number }>`select 1 as one`.execute(database);

    expect(rows).toEqual([{ one: 1 }]);
    // Node 22 warns of its SQLite as well.
    await vi.waitFor(() => expect(warnings).toContain("no disk"), 60_000);
    process.off("warning", warn);
    expect(() => openDatabase(place.url, { onStatement: "log" as never })).toThrow(
      "openDatabase.onStatement must be a function",
    );
  });

  it("hides uncommitted changes from others", async () => {
    const database = await open();
    const trx = await database.begin();
    await trx.insertInto("books").values({ id: 1, title: "one" }).execute();

    const seen = await titles(database);
    const own = await titles(trx);
    await trx.end("success");

    expect([seen, own, await titles(database)]).toEqual([[], ["one"], ["one"]]);
  });

  it("has savepoints inside a transaction that end independently, also after an error and when nested", async () => {
    const database = await open();
    const trx = await database.begin();
    await trx.insertInto("books").values({ id: 1, title: "one" }).execute();

    const lost = await trx.begin();
    await lost.insertInto("books").values({ id: 2, title: "two" }).execute();
    await expect(lost.insertInto("books").values({ id: 3, title: "two" }).execute()).rejects.toThrow(/unique/i);
    await lost.end("failure");
    const kept = await trx.begin();
    const inner = await kept.begin();
    await inner.insertInto("books").values({ id: 4, title: "four" }).execute();
    await inner.end("success");
    await kept.end("success");
    await trx.end("success");

    expect(await titles(database)).toEqual(["one", "four"]);
  });

  it("rejects statements of a savepoint that has ended, and of those inside it", async () => {
    const database = await open();
    const trx = await database.begin();
    const savepoint = await trx.begin();
    const inner = await savepoint.begin();
    const write = (by: typeof trx, id: number) => by.insertInto("books").values({ id, title: `title ${id}` });
    const slow = async (): Promise<void> => {
      await write(savepoint, 1).execute();
      await write(savepoint, 2).execute();
    };

    const late = slow();
    late.catch(() => {});
    await savepoint.end("failure");
    const sent = [
      late,
      write(inner, 3).execute(),
      sql`delete from books`.execute(savepoint),
      savepoint.executeQuery(write(trx, 4).compile()),
      savepoint.begin(),
    ];
    const outcomes = await Promise.allSettled(sent);
    await write(trx, 5).execute();
    await trx.end("success");

    for (const outcome of outcomes)
      expect(outcome).toMatchObject({
        status: "rejected",
        reason: { message: expect.stringContaining("savepoint has already ended") as string },
      });
    expect(await titles(database)).toEqual(["title 5"]);
  });

  it("makes savepoints of one transaction wait for each other", async () => {
    const database = await open();
    const trx = await database.begin();

    await Promise.all(
      [1, 2, 3, 4].map(async (id) => {
        const savepoint = await trx.begin();
        await savepoint
          .insertInto("books")
          .values({ id, title: `title ${id}` })
          .execute();
        await savepoint.end(id % 2 === 0 ? "success" : "failure");
      }),
    );
    await trx.end("success");

    expect(await titles(database)).toEqual(["title 2", "title 4"]);
  });

  it("ends a transaction whose commit fails, reports it, and continues with the next one", async () => {
    const database = await open();
    const trx = await database.begin();
    await sql`create table notes (book integer references books (id) deferrable initially deferred)`.execute(trx);
    await sql`insert into notes values (7)`.execute(trx);

    await expect(trx.end("success")).rejects.toThrow(/foreign key/i);

    const next = await database.begin();
    await next.insertInto("books").values({ id: 1, title: "one" }).execute();
    await next.end("success");
    expect(await titles(database)).toEqual(["one"]);
  });

  it("finishes 100 parallel operations that each hold a transaction and read a list, with ten connections", async () => {
    const database = await open();
    await database
      .insertInto("books")
      .values(Array.from({ length: 50 }, (_, id) => ({ id, title: `title ${id}` })))
      .execute();
    const { durable } = sqlStores(database);
    const unitOfWork = provide(async function* ({ ctx }) {
      const trx = await database.begin();
      try {
        yield trx;
      } finally {
        await trx.end(ctx.outcome);
      }
    });
    const app = new PorticoApp({ logger: false })
      .get("/inside", { params: { trx: Depend(unitOfWork) } }, ({ trx, response }) =>
        response.apaginate(tableHandler(trx.selectFrom("books").selectAll())),
      )
      // The list and a session are read on the pool, while the same operation holds a transaction.
      .get("/beside", { params: { trx: Depend(unitOfWork) } }, async ({ trx, response }) => {
        await trx.selectFrom("books").select("id").execute();
        await durable.get("session");
        return response.apaginate(tableHandler(database.selectFrom("books").selectAll()));
      });
    const client: LiveClient = await liveClient(app);

    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => client.get(n % 2 === 0 ? "/inside" : "/beside")),
    );

    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => 200));
    expect(
      answers.every(
        (answer) => (answer.json() as { pagination: { total_items: number } }).pagination.total_items === 50,
      ),
    ).toBe(true);
    await client.close();
  });

  it("responds with 503 after too long a wait for a transaction, and serves the next one", async () => {
    const database = place.open<Tables>({ poolSize: 2, timeoutSeconds: 0.2 });
    const held = await database.begin();

    await expect(database.begin()).rejects.toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE" });
    await expect(database.transaction().execute(async () => 1)).rejects.toMatchObject({ status: 503 });

    await held.end("success");
    const next = await database.begin();
    await next.end("success");
    expect(await database.transaction().execute(async () => 1)).toBe(1);
  });

  it("streams more rows than are read at once, also in a transaction, and releases the connection", async () => {
    const database = await open();
    await database
      .insertInto("books")
      .values(Array.from({ length: 250 }, (_, id) => ({ id, title: `book ${id}` })))
      .execute();
    const query = (from: typeof database) => from.selectFrom("books").select("id").orderBy("id").stream(100);
    const broken = sql`select * from nowhere`.compile(database);

    for (let round = 0; round < 12; round++) {
      const ids: number[] = [];
      for await (const { id } of query(database)) ids.push(id);
      expect(ids).toEqual(Array.from({ length: 250 }, (_, id) => id));
      for await (const { id } of query(database)) if (id === 3) break;
      const reading = (async () => {
        for await (const _ of database.getExecutor().stream(broken, 10)) throw new Error("there are rows");
      })();
      await expect(reading).rejects.toThrow("nowhere");
    }
    const trx = await database.begin();
    await trx.deleteFrom("books").where("id", ">", 1).execute();
    const left: number[] = [];
    for await (const { id } of query(trx)) left.push(id);
    await trx.end("failure");

    expect(left).toEqual([0, 1]);
    expect(await titles(database)).toHaveLength(250);
  });

  it("responds to ping until it is closed", async () => {
    const database = place.open();

    await database.ping();
    await database.destroy();

    await expect(database.ping()).rejects.toThrow("driver has already been destroyed");
  });
});

describe("PostgreSQL", () => {
  it("deadlocks without the connections that are reserved for statements, when transactions bypass begin()", async () => {
    const place = await migratedPlace("PostgreSQL");
    const database = place.open({ poolSize: 4, timeoutSeconds: 1 });

    const ends = await Promise.allSettled(
      Array.from({ length: 20 }, async () => {
        const trx = await database.startTransaction().execute();
        try {
          await database.ping();
        } finally {
          await trx.rollback().execute();
        }
      }),
    );

    expect(ends.filter(({ status }) => status === "rejected").length).toBeGreaterThan(3);
    await place.remove();
  });
});

describe("a violated constraint on PostgreSQL", () => {
  it("is handled by an exception handler, as shown in the guide", async () => {
    const place = await newPlace("PostgreSQL");
    const database = place.open<any>({ poolSize: 2 });
    await sql`create table authors (id integer primary key)`.execute(database);
    await sql`create table books (id integer primary key, author integer references authors)`.execute(database);
    const app = new PorticoApp({ logger: false });
    app.addExceptionHandler(DatabaseError, (_request, _response, exc) => {
      if (exc.code === "23505") throw new Conflict("There is one already", { cause: exc });
      if (exc.code === "23503")
        throw new HttpException(422, "It refers to something that is not there", { cause: exc });
      throw exc;
    });
    app.post("/books/:id", async ({ path, query }) => {
      const author = query["author"] === undefined ? null : Number(query["author"]);
      await database
        .insertInto("books")
        .values({ id: Number(path.id), author })
        .execute();
    });
    const client = testClient(app);

    const answers = [];
    for (const target of ["/books/1", "/books/1", "/books/2?author=7", "/books/99999999999"])
      answers.push((await client.post(target)).status);

    expect(answers).toEqual([204, 409, 422, 500]);
    await place.remove();
  });
});

describe("a lock on PostgreSQL", () => {
  it("is waited for as long as a connection, even if the caller itself holds it", async () => {
    const place = await migratedPlace("PostgreSQL");
    const database = place.open({ poolSize: 4, timeoutSeconds: 0.3 });
    await sql`create table shelves (id integer primary key, books integer)`.execute(database);
    await sql`insert into shelves values (1, 0)`.execute(database);
    const update = sql`update shelves set books = books + 1`;
    const held = await database.begin();
    await update.execute(held);

    await expect(update.execute(database)).rejects.toMatchObject({
      status: 503,
      code: "SERVICE_UNAVAILABLE",
      message: "The database is busy: timed out waiting for a lock",
    });

    await held.end("success");
    await update.execute(database);
    // A statement with NOWAIT gets the database's own error.
    await expect(sql`select 1 / (select 0)`.execute(database)).rejects.toMatchObject({ code: "22012" });
    const other = await database.begin();
    await sql`select * from shelves for update`.execute(other);
    await expect(sql`select * from shelves for update nowait`.execute(database)).rejects.toMatchObject({
      code: "55P03",
    });
    await other.end("success");
    await place.remove();
  });

  it("does not end a migration that waits for another process", async () => {
    const place = await newPlace("PostgreSQL");
    const holder = await place.open().begin();
    // Asks again and again: a statement that waits for the lock would block the concurrent indexes of another test.
    const lock = sql`select pg_try_advisory_xact_lock(${sql.lit(0x70_6f_72_74_69_63)}) as granted`;
    await vi.waitFor(async () => expect((await lock.execute(holder)).rows).toEqual([{ granted: true }]), 60_000);
    const migrating = migrate(place.open({ timeoutSeconds: 0.2 }), "up");
    await sleep(600);
    await holder.end("success");

    expect(await migrating).toContain("0001_users");
    await place.remove();
  });
});

describe("SQLite", () => {
  it("keeps a database in memory, with isolated transactions", async () => {
    const database = openDatabase<Tables>("sqlite::memory:");
    await sql`create table books (id integer primary key, title text)`.execute(database);
    const trx = await database.begin();
    await trx.insertInto("books").values({ id: 1, title: "one" }).execute();

    const outside = database.selectFrom("books").selectAll().execute();
    await trx.end("failure");

    expect(await outside).toEqual([]);
    await database.destroy();
  });

  it("rejects the statements of a transaction that SQLite itself rolled back", async () => {
    const database = openDatabase<PorticoTables & { books: { id: number } }>("sqlite::memory:");
    await sql`create table books (id integer unique)`.execute(database);
    const trx = await database.begin();
    await trx.insertInto("books").values({ id: 1 }).execute();

    await expect(sql`insert or abort into books values (1)`.execute(trx)).rejects.toThrow("UNIQUE");
    await trx.insertInto("books").values({ id: 2 }).execute();
    await expect(sql`insert or rollback into books values (1)`.execute(trx)).rejects.toThrow("UNIQUE");
    await expect(trx.insertInto("books").values({ id: 3 }).execute()).rejects.toThrow("SQLite rolled back");
    await trx.end("failure");
    const next = await database.begin();
    await next.insertInto("books").values({ id: 4 }).execute();
    await next.end("success");

    expect(await database.selectFrom("books").select("id").execute()).toEqual([{ id: 4 }]);
    await database.destroy();
  });

  it("enforces foreign keys, uses WAL, and accepts booleans, times and large numbers", async () => {
    const place = await migratedPlace("SQLite");
    const database = place.open<any>();
    await sql`create table kinds (flag integer, at text, big integer)`.execute(database);
    await database
      .insertInto("kinds")
      .values({ flag: true, at: new Date(0), big: 2n ** 60n })
      .execute();

    expect(await database.selectFrom("kinds").selectAll().execute()).toEqual([
      { flag: 1, at: "1970-01-01T00:00:00.000Z", big: 2n ** 60n },
    ]);
    expect((await sql<{ journal_mode: string }>`pragma journal_mode`.execute(database)).rows[0]?.journal_mode).toBe(
      "wal",
    );
    await expect(
      database.insertInto("portico_user_permissions").values({ user_id: "nobody", permission: "x" }).execute(),
    ).rejects.toThrow("FOREIGN KEY");
    await place.remove();
  });
});

describe("openDatabase", () => {
  it.each([
    ["mysql://root:hunter2@db.example/shop", "mysql://root:***@db.example/shop"],
    ["postgres://root:hun@ter2@:99999999/shop?password=hunter2", "postgres://root:***@:99999999/shop"],
    ["host=db.example user=root password=hunter2", "host=db.example user=root password=***"],
    ["host=db.example password = 'hun ter2' user=root", "host=db.example password = *** user=root"],
    ["Server=db.example Pwd=hunter2", "Server=db.example Pwd=***"],
    ["postgres://root:hunter2#more@db.example/shop", "postgres://***"],
    ["mysql://root:hunter2?more@db.example/shop", "mysql://***"],
    ["mysql://db.example/shop?user=root@example.com", "mysql://***"],
    ["shop.db", "shop.db"],
    ["sqlite:", "sqlite:"],
    ["", ""],
  ])("rejects %s, and shows it without its password", (url, shown) => {
    const error = thrownBy(() => openDatabase(url));

    expect(error).toMatchObject({ name: "ConfigurationError", option: "openDatabase.url" });
    expect(error.message).toContain(`received ${JSON.stringify(shown)}`);
    expect(error.message).not.toContain("hunter2");
    expect(error.message).not.toContain("ter2");
  });

  it.each([
    [{ poolSize: 1 }, "openDatabase.poolSize must be a whole number, 2 or more, received 1"],
    [{ timeoutSeconds: 0 }, "openDatabase.timeoutSeconds must be a number of seconds above 0, up to 600, received 0"],
    [{ pool: 1 }, 'openDatabase: unknown option "pool"'],
  ])("rejects %j", (options, message) => {
    expect(() => openDatabase("sqlite::memory:", options as object)).toThrow(message);
  });

  it("responds with 503 without the host or the password if there is no server", async () => {
    const database = openDatabase("postgres://root:hunter2@127.0.0.1:1/shop");

    const error: unknown = await database.ping().catch((error: unknown) => error);

    expect(error).toMatchObject({ status: 503, message: "The database is unreachable" });
    await database.destroy();
  });
});

function thrownBy(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}
