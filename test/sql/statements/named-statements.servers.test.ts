import { once } from "node:events";
import { Kysely, PostgresDialect, sql } from "kysely";
import { Pool } from "pg";
import type { Order } from "portico/pagination";
import { namedStatements, tableHandler } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

// Names are limited in a process, and other files would use them up.

interface Tables {
  portico_named: { id: number; day: number };
}
const pool = new Pool({ host: "127.0.0.1", user: "postgres", database: "test", max: 1 });
const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: namedStatements(pool) }) });

beforeAll(async () => {
  await sql`create table portico_named (id integer primary key, day integer not null)`.execute(database);
  await sql`insert into portico_named select i, i % 7 from generate_series(1, 100) i`.execute(database);
});
afterAll(async () => {
  await sql`drop table portico_named`.execute(database);
  await database.destroy();
});

const names = async (on = database): Promise<readonly string[]> => {
  const { rows } = await sql<{
    name: string;
  }>`select name from pg_prepared_statements where name like 'portico_%'`.execute(on);
  return rows.map(({ name }) => name);
};

describe("a repeated seek", () => {
  it("is one named statement on the connection, whatever its keys and parameters", async () => {
    const order: Order = [
      ["day", "asc"],
      ["id", "asc"],
    ];
    for (let id = 1; id <= 6; id++) {
      const handler = tableHandler(
        database
          .selectFrom("portico_named")
          .selectAll()
          .where("day", ">=", id % 3),
      );
      const found = await handler.getItemsAfter({ order, key: ["3", String(id)], direction: "forward" }, 5);
      expect(found).toHaveLength(5);
    }

    expect(await names()).toEqual([expect.stringMatching(/^portico_[\w-]{22}$/)]);
  });

  it("has another name for another form, and none while it is rare", async () => {
    const before = (await names()).length;
    const handler = tableHandler(database.selectFrom("portico_named").selectAll());
    const seek = { order: [["id", "desc"]] as Order, key: ["50"], direction: "forward" as const };

    await handler.getItemsAfter(seek, 3);
    await handler.getItemsAfter(seek, 3);
    expect(await names()).toHaveLength(before);
    await handler.getItemsAfter(seek, 3);
    await handler.getItemsAfter(seek, 3);

    expect(await names()).toHaveLength(before + 1);
    expect(await handler.getItemsAfter(seek, 3)).toEqual([
      { id: 49, day: 0 },
      { id: 48, day: 6 },
      { id: 47, day: 5 },
    ]);
  });

  it("works after a migration changed the selected columns", async () => {
    const handler = tableHandler(database.selectFrom("portico_named").selectAll());
    const seek = { order: [["id", "asc"]] as Order, key: ["50"], direction: "forward" as const };
    for (let turn = 0; turn < 5; turn++) await handler.getItemsAfter(seek, 1);

    await sql`alter table portico_named add column note text`.execute(database);
    const after = await handler.getItemsAfter(seek, 1);
    const again = await handler.getItemsAfter(seek, 1);

    expect([after, again]).toEqual([[{ id: 51, day: 2, note: null }], [{ id: 51, day: 2, note: null }]]);
  });

  it("does not name other statements", async () => {
    const before = (await names()).length;
    for (let turn = 0; turn < 5; turn++) await database.selectFrom("portico_named").selectAll().limit(1).execute();

    expect(await names()).toHaveLength(before);
  });
});

/** As behind a pooler, the connection no longer has the statements, or has those of another client. */
describe("a connection that loses its named statements", () => {
  const order: Order = [["id", "asc"]];
  const seek = { order, key: ["50"], direction: "forward" as const };
  const page = [{ id: 51, day: 2 }];
  const read = (on: Kysely<Tables>): Promise<readonly unknown[]> =>
    tableHandler(on.selectFrom("portico_named").select(["id", "day"])).getItemsAfter(seek, 1);

  function ownConnection(): Kysely<Tables> {
    const pool = namedStatements(new Pool({ host: "127.0.0.1", user: "postgres", database: "test", max: 1 }));
    const own = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
    onTestFinished(() => own.destroy());
    return own;
  }

  async function prepared(): Promise<Kysely<Tables>> {
    const own = ownConnection();
    for (let turn = 0; turn < 4; turn++) await read(own);
    return own;
  }

  async function lossy(): Promise<Kysely<Tables>> {
    const own = await prepared();
    await sql`deallocate all`.execute(own);
    return own;
  }

  it("repeats the statement without a name, warns once, and uses no names from then on", async () => {
    const own = await lossy();
    const warned = once(process, "warning");
    const warnings: unknown[] = [];
    const keep = (warning: unknown): void => void warnings.push(warning);
    process.on("warning", keep);
    onTestFinished(() => void process.off("warning", keep));

    expect([await read(own), await read(own), await read(own)]).toEqual([page, page, page]);

    expect(String(await warned)).toMatch("loses named statements");
    expect(warnings).toHaveLength(1);
    expect(await names(own)).toEqual([]);
  });

  it("repeats it if the server has a statement of another client with that name", async () => {
    const [name = ""] = await names(await prepared());
    const own = ownConnection();
    await sql`prepare ${sql.id(name)} as select 1`.execute(own);

    expect(await read(own)).toEqual(page);
  });

  it.each([["read committed"], ["serializable"]] as const)(
    "repeats it if it is the first of a transaction that is %s, with the transaction",
    async (level) => {
      const own = await lossy();

      const seen = await own
        .transaction()
        .setIsolationLevel(level)
        .execute(async (trx) => [
          await read(trx),
          (await sql<{ level: string }>`select current_setting('transaction_isolation') as level`.execute(trx)).rows,
        ]);

      expect(seen).toEqual([page, [{ level }]]);
    },
  );

  it("rejects with 503 later in a transaction, of which nothing is kept", async () => {
    const own = await lossy();

    const failed = own.transaction().execute(async (trx) => {
      await trx.insertInto("portico_named").values({ id: 900, day: 1 }).execute();
      await read(trx);
    });

    await expect(failed).rejects.toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE" });
    expect(await own.selectFrom("portico_named").selectAll().where("id", "=", 900).execute()).toEqual([]);
    expect(await read(own)).toEqual(page);
  });
});
