import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { sql } from "kysely";
import { PorticoApp } from "portico";
import { type Migration, migrate, migrationStatus, sqlStores } from "portico/sql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { engineNames, newPlace, type Place } from "./databases.ts";

const NAMES = ["0001_users", "0002_permissions_and_roles", "0003_stores", "0004_outbox"];
const run = promisify(execFile);

const table = (name: string): Migration => ({
  name,
  up: (trx) => trx.schema.createTable(name).addColumn("id", "text").execute(),
  down: (trx) => trx.schema.dropTable(name).execute(),
});

describe.each(engineNames)("migrations on %s", (name) => {
  let place: Place;
  beforeEach(async () => {
    place = await newPlace(name);
  });
  afterEach(() => place?.remove());

  it("of the application are applied after Portico's, in one transaction, and undone before them", async () => {
    const database = place.open();
    // A name of Portico's is free for an application.
    const migrations = [{ ...table("books"), name: "0001_users" }, table("orders")];

    expect(await migrate(database, "up", { migrations })).toEqual([...NAMES, "0001_users", "orders"]);
    expect(await migrate(database, "up", { migrations })).toEqual([]);
    expect((await migrationStatus(database, { migrations })).every(({ appliedAt }) => appliedAt !== null)).toBe(true);
    expect(await migrationStatus(database)).toHaveLength(NAMES.length);
    await expect(migrate(database, "down all")).rejects.toThrow("0001_users depends on Portico's tables");
    await expect(migrate(database, "up", { migrations: [table("orders")] })).rejects.toThrow(
      "is not in the list: 0001_users. Add it to migrations again. If it no longer exists, undo its changes manually and delete the row 'own/0001_users' from portico_migrations",
    );
    expect(await migrate(database, "down", { migrations })).toEqual(["orders"]);
    expect(await migrate(database, "down all", { migrations })).toEqual(["0001_users", ...NAMES.toReversed()]);
    expect(await tables(place)).toEqual(["portico_migrations"]);
  });

  it("of the application are rejected if one is listed before an applied one", async () => {
    const database = place.open();
    await migrate(database, "up", { migrations: [table("books"), table("orders")] });

    const merged = [table("books"), table("carts"), table("orders"), table("mails")];
    await expect(migrate(database, "up", { migrations: merged })).rejects.toMatchObject({
      code: "MIGRATION_FAILED",
      message: "The migration carts is listed before orders, which has been applied: move it to the end of migrations",
    });
    expect(await tables(place)).not.toContain("mails");
    const appended = [table("books"), table("orders"), table("carts"), table("mails")];
    expect(await migrate(database, "up", { migrations: appended })).toEqual(["carts", "mails"]);
  });

  it("outside a transaction run between those inside, and remain if a later one fails", async () => {
    const database = place.open({ poolSize: 2 });
    const places: string[] = [];
    const index: Migration = {
      name: "index",
      transaction: false,
      async up(connection) {
        places.push(connection.isTransaction ? "inside" : "outside");
        const concurrently = sql.raw(name === "PostgreSQL" ? "concurrently" : "");
        await sql`create index ${concurrently} books_by_id on books (id)`.execute(connection);
      },
      down: (connection) => connection.schema.dropIndex("books_by_id").execute(),
    };
    const broken: Migration = { ...table("broken"), up: () => Promise.reject(new Error("no such column")) };

    await expect(
      migrate(database, "up", { migrations: [table("books"), index, table("orders"), broken] }),
    ).rejects.toThrow("The migration broken failed: no such column");
    // The transaction after the index was rolled back.
    expect(await tables(place)).toEqual(expect.arrayContaining(["books", "users"]));
    expect(await tables(place)).not.toContain("orders");
    const migrations = [table("books"), index, table("orders")];
    expect(await migrate(database, "up", { migrations })).toEqual(["orders"]);
    expect(await migrate(database, "up", { migrations })).toEqual([]);
    expect(places).toEqual(["outside"]);

    expect(await migrate(database, "down all", { migrations })).toEqual([
      "orders",
      "index",
      "books",
      ...NAMES.toReversed(),
    ]);
    const failing: Migration = { ...index, up: () => Promise.reject(new Error("disk full")) };
    await expect(migrate(database, "up", { migrations: [table("books"), failing] })).rejects.toThrow(
      "The migration index failed: disk full. It runs outside a transaction, so part of it may have been applied",
    );
    expect(await tables(place)).toContain("books");
  });

  it("without users create the stores next to an existing table of users", async () => {
    const database = place.open();
    await database.schema.createTable("users").addColumn("login", "text").execute();
    const start = () => sqlStores(database).durable.start?.(new PorticoApp({ logger: false }).log);
    await expect(start()).rejects.toThrow("has pending migrations (4)");

    expect(await migrate(database, "up", { users: false })).toEqual(["0003_stores", "0004_outbox"]);
    expect(await migrate(database, "up", { users: false })).toEqual([]);

    await expect(start()).resolves.toBeUndefined();
    expect((await migrationStatus(database, { users: false })).map((entry) => entry.name)).toEqual([
      "0003_stores",
      "0004_outbox",
    ]);
    expect(await migrate(database, "down all", { users: false })).toEqual(["0004_outbox", "0003_stores"]);
    expect(await tables(place)).toEqual(["portico_migrations", "users"]);
  });

  it("with users are all required by the stores, even if some were applied before", async () => {
    const database = place.open();
    await migrate(database, "up");
    await database
      .deleteFrom("portico_migrations" as never)
      .where("name" as never, "=", "0002_permissions_and_roles" as never)
      .execute();

    await expect(sqlStores(database).durable.start?.(new PorticoApp({ logger: false }).log)).rejects.toThrow(
      "has pending migrations (1)",
    );
  });

  it("of the application leave nothing behind if they fail, and nothing of Portico's either", async () => {
    const database = place.open();
    const broken: Migration = {
      name: "broken",
      up: () => Promise.reject(new Error("no such column")),
      down: async () => {},
    };

    await expect(migrate(database, "up", { migrations: [broken] })).rejects.toThrow(
      "The migration broken failed: no such column",
    );
    expect(await tables(place)).toEqual([]);
  });

  it.each([
    [[{ name: "half", up: async () => {} }]],
    [[null]],
    ["books"],
    [[{ name: "", up: async () => {}, down: async () => {} }]],
    [[{ name: "odd", transaction: "no", up: async () => {}, down: async () => {} }]],
  ])("of the application are rejected if they are invalid: %j", async (migrations) => {
    await expect(migrate(place.open(), "up", { migrations: migrations as never })).rejects.toThrow(
      "migrate.migrations must be",
    );
  });

  it("reject a misspelt option", async () => {
    const database = place.open();
    const options = { migration: [] } as object;

    for (const run of [migrate(database, "up", options), migrationStatus(database, options)])
      await expect(run).rejects.toThrow('migrate: unknown option "migration". Did you mean "migrations"?');
    expect(await tables(place)).toEqual([]);
  });

  it("are applied once, undone one by one or all at once, and report their status", async () => {
    const database = place.open();
    const applied = async () =>
      (await migrationStatus(database)).filter(({ appliedAt }) => appliedAt !== null).map(({ name }) => name);

    expect((await migrationStatus(database)).map(({ name, appliedAt }) => [name, appliedAt])).toEqual(
      NAMES.map((name) => [name, null]),
    );
    expect(await migrate(database, "up")).toEqual(NAMES);
    expect(await migrate(database, "up")).toEqual([]);
    expect(await applied()).toEqual(NAMES);
    expect(await migrate(database, "down")).toEqual(["0004_outbox"]);
    expect(await applied()).toEqual(NAMES.slice(0, 3));
    expect(await migrate(database, "up")).toEqual(["0004_outbox"]);
    expect(await migrate(database, "down all")).toEqual(NAMES.toReversed());
    expect(await migrate(database, "down")).toEqual([]);
    expect(await tables(place)).toEqual(["portico_migrations"]);
    expect(await migrate(database, "up")).toEqual(NAMES);
    await expect(migrate(database, "sideways" as "up")).rejects.toThrow('migrate.direction must be "up"');
  });

  it("[auth:AU-191] are applied once when processes start at once on an empty database, and create no account", async () => {
    const sqlDoor = pathToFileURL(resolve(import.meta.dirname, "../../../src/sql/index.ts")).href;
    const program = `
      const { migrate, openDatabase } = await import(${JSON.stringify(sqlDoor)});
      const database = openDatabase(process.argv[1], { poolSize: 2, timeoutSeconds: 30 });
      console.log(JSON.stringify(await migrate(database, "up")));
      await database.destroy();`;

    const outputs = await Promise.all(
      Array.from({ length: 3 }, () =>
        run(process.execPath, ["--no-warnings", "--input-type=module", "-e", program, place.url]),
      ),
    );

    const done = outputs.map(({ stdout }) => JSON.parse(stdout) as string[]);
    expect(done.toSorted((a, b) => b.length - a.length)).toEqual([NAMES, [], []]);
    expect(await place.open().selectFrom("users").selectAll().execute()).toEqual([]);
  });

  it("leave nothing behind when one fails, and name it", async () => {
    const database = place.open();
    await sql`create table portico_entries (mine integer)`.execute(database);

    await expect(migrate(database, "up")).rejects.toThrow(/The migration 0003_stores failed: .*portico_entries/);
    await expect(migrate(database, "up")).rejects.toMatchObject({ code: "MIGRATION_FAILED" });

    expect(await tables(place)).toEqual(["portico_entries"]);
    await sql`drop table portico_entries`.execute(database);
    expect(await migrate(database, "up")).toEqual(NAMES);
  });

  it("reject a database of a newer version", async () => {
    const database = place.open();
    await migrate(database, "up");
    await sql`insert into portico_migrations values ('9999_later', 'x')`.execute(database);

    await expect(migrate(database, "up")).rejects.toThrow("does not know: 9999_later");
    await expect(migrationStatus(database)).rejects.toThrow("does not know: 9999_later");
  });
});

it("an index that is built concurrently is not blocked by the processes that wait for it", async () => {
  const place = await newPlace("PostgreSQL");
  const build: Migration = {
    name: "build",
    transaction: false,
    async up(connection) {
      await sql`select pg_sleep(0.5)`.execute(connection);
      await sql`create index concurrently books_by_id on books (id)`.execute(connection);
    },
    down: (connection) => connection.schema.dropIndex("books_by_id").execute(),
  };
  const migrations = [table("books"), build];
  await migrate(place.open(), "up", { migrations: [table("books")] });

  const done = await Promise.all(
    // The last one, an older release, has no such migration and waits in a transaction.
    [{ migrations }, { migrations }, { migrations }, {}].map((options) => migrate(place.open(), "up", options)),
  );

  expect(done.flat()).toEqual(["build"]);
  await place.remove();
});

async function tables(place: Place): Promise<string[]> {
  const database = place.open();
  const { rows } =
    database.engine === "postgres"
      ? await sql<{
          name: string;
        }>`select tablename as name from pg_tables where schemaname = current_schema()`.execute(database)
      : await sql<{
          name: string;
        }>`select name from sqlite_master where type = 'table' and name <> 'sqlite_sequence'`.execute(database);
  return rows.map(({ name }) => name).toSorted();
}
