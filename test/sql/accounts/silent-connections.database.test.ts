import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { PorticoApp, topic } from "portico";
import { type Database, type DatabaseOptions, openDatabase, sqlStores } from "portico/sql";
import { liveClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { newPlace, onServer, type Place } from "./databases.ts";
import { type FrozenLine, frozenLine } from "./frozen-line.ts";

const UNAVAILABLE = { code: "SERVICE_UNAVAILABLE", status: 503, headers: { "retry-after": "1" } };

let place: Place;
beforeAll(async () => {
  place = await newPlace("PostgreSQL");
});
afterAll(() => place?.remove());

/** A database behind a line that can go silent, with as many open connections as its pool holds. */
async function behindLine(options: DatabaseOptions = {}): Promise<{ database: Database; line: FrozenLine }> {
  const line = await frozenLine(place.url);
  onTestFinished(() => line.close());
  const database = openDatabase(line.url, { poolSize: 3, ...options });
  onTestFinished(() => database.destroy());
  await Promise.all([1, 2, 3].map(() => sql`select pg_sleep(0.1)`.execute(database)));
  return { database, line };
}

describe("connections to PostgreSQL that go silent", () => {
  it("are replaced as soon as the server reports that it does not work on their statement", async () => {
    const { database, line } = await behindLine();
    const app = new PorticoApp({ logger: false, health: { checks: { database: () => database.ping() } } }).get(
      "/now",
      () => sql`select now()`.execute(database).then(({ rows }) => rows),
    );
    const client = await liveClient(app);
    onTestFinished(() => client.close());

    line.silence();
    const first = await Promise.all([1, 2, 3].map(() => client.get("/now")));
    const second = await Promise.all([1, 2, 3].map(() => client.get("/now")));

    expect(first.map(({ status }) => status)).toEqual([503, 503, 503]);
    expect(first[0]?.headers["retry-after"]).toBe("1");
    expect(second.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await client.get("/readyz")).status).toBe(200);
  });

  it("take the idle connections of the pool with them, so that no second statement waits", async () => {
    const { database, line } = await behindLine();

    line.silence();
    await expect(sql`select 1`.execute(database)).rejects.toMatchObject(UNAVAILABLE);
    const others = await Promise.all([1, 2, 3].map(() => sql`select 1 as one`.execute(database)));

    // On a silent connection each of them would fail, too.
    expect(others.map(({ rows }) => rows)).toEqual([[{ one: 1 }], [{ one: 1 }], [{ one: 1 }]]);
  });

  it("end a transaction: its statement is a 503, its rollback does not fail, and another one can start", async () => {
    const { database, line } = await behindLine();
    const trx = await database.begin();
    await sql`select 1`.execute(trx);

    line.silence();
    await expect(sql`select 1`.execute(trx)).rejects.toMatchObject(UNAVAILABLE);
    await trx.end("failure");
    const next = await database.begin();
    const { rows } = await sql`select 1 as one`.execute(next);
    await next.end("success");

    expect(rows).toEqual([{ one: 1 }]);
  });

  it("make the commit of a transaction fail instead of leaving it pending", async () => {
    const { database, line } = await behindLine();
    const trx = await database.begin();
    await sql`select 1`.execute(trx);

    line.silence();

    await expect(trx.end("success")).rejects.toMatchObject(UNAVAILABLE);
  });

  it("end a stream that reads from them, and an abandoned stream", async () => {
    const { database, line } = await behindLine();
    const stream = () =>
      database.selectFrom(sql<{ n: number }>`generate_series(1, 1000)`.as("n")).selectAll().stream(10);
    const read = stream()[Symbol.asyncIterator]();
    const left = stream()[Symbol.asyncIterator]();
    await read.next();
    await left.next();

    line.silence();
    const rest = (async () => {
      while ((await read.next()).done !== true);
    })();
    const leaving = left.return?.();

    await expect(rest).rejects.toMatchObject(UNAVAILABLE);
    await Promise.resolve(leaving).catch(() => {});
    expect((await sql`select 1 as one`.execute(database)).rows).toEqual([{ one: 1 }]);
  });

  it("do not delay destroy(), whether idle or active", async () => {
    const { database, line } = await behindLine();

    line.silence();
    const running = sql`select 1`.execute(database);
    running.catch(() => {});
    await sleep(100);
    await database.destroy();

    await expect(running).rejects.toMatchObject(UNAVAILABLE);
  });

  it("do not delay closing a bus that listens on one of them", async () => {
    const { database, line } = await behindLine();
    const { bus } = sqlStores(database);
    const iterator = bus.subscribe(topic<string>("greetings"))[Symbol.asyncIterator]();
    await bus.settled();

    line.silence();
    await bus.close?.();

    expect((await iterator.next()).done).toBe(true);
  });

  it("do not include connections on which the server is active, however long that takes", async () => {
    const { database } = await behindLine();

    const { rows } = await sql`select 'done' as it from pg_sleep(5)`.execute(database);

    expect(rows).toEqual([{ it: "done" }]);
  });
});

describe("the deadline of a statement", () => {
  const atWork = async (mark: string): Promise<number> =>
    (
      await onServer(
        `select 1 from pg_stat_activity where state = 'active' and query like '%${mark}%' and pid <> pg_backend_pid()`,
      )
    ).length;
  /** A statement that is not cancelled goes on for longer than a test may take. */
  const ended = async (mark: string): Promise<void> => {
    await expect.poll(() => atWork(mark)).toBe(0);
  };
  const begun = async (mark: string): Promise<void> => {
    await expect.poll(() => atWork(mark)).toBeGreaterThan(0);
  };

  it("fails it with 503 and cancels it on the server", async () => {
    const database = place.open({ statementSeconds: 1 });

    const failing = sql`select 'mark_late', pg_sleep(600)`.execute(database);

    await expect(failing).rejects.toMatchObject({
      ...UNAVAILABLE,
      message: "The database did not respond within 1 s",
    });
    await ended("mark_late");
    expect((await sql`select 1 as one`.execute(database)).rows).toEqual([{ one: 1 }]);
  });

  it("can be disabled, and rejects an invalid number of seconds", async () => {
    const database = place.open({ statementSeconds: 0 });

    await sql`select pg_sleep(1.2)`.execute(database);

    expect(() => openDatabase(place.url, { statementSeconds: -1 })).toThrow(
      "openDatabase.statementSeconds must be a number of seconds from 0 to 86,400",
    );
  });

  it("comes early when the handler was aborted: its reads and writes are cancelled on the server", async () => {
    const database = place.open();
    await sql`create table if not exists notes (text text)`.execute(database);
    const app = new PorticoApp({ logger: false, timeouts: { handlerSeconds: 1, graceSeconds: 30 } })
      .get("/read", async () => void (await sql`select 'mark_read', pg_sleep(600)`.execute(database)))
      .post("/write", async () => {
        const trx = await database.begin();
        await sql`insert into notes select 'mark_write' from pg_sleep(600)`.execute(trx);
      });
    const client = await liveClient(app);
    onTestFinished(() => client.close());

    const answers = await Promise.all([client.get("/read"), client.post("/write")]);

    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    await ended("mark_");
  });

  it("comes early for the reads of a client that disconnected, but not for the writes", async () => {
    const database = place.open();
    await sql`create table if not exists notes (text text)`.execute(database);
    const app = new PorticoApp({ logger: false })
      .get("/read", async () => void (await sql`select 'mark_gone', pg_sleep(600)`.execute(database)))
      .get("/write", async () => {
        await sql`insert into notes select 'mark_kept' from pg_sleep(4)`.execute(database);
      });
    const { url } = await app.listen({ port: 0 });
    onTestFinished(() => app.close());
    const sent = ["/read", "/write"].map((path) => {
      const sending = request(new URL(path, url)).on("error", () => {});
      sending.end();
      return sending;
    });
    await Promise.all([begun("mark_gone"), begun("mark_kept")]);

    for (const sending of sent) sending.destroy();

    await ended("mark_gone");
    await ended("mark_kept");
    await expect
      .poll(async () => (await sql`select text from notes`.execute(database)).rows)
      .toContainEqual({ text: "mark_kept" });
  });
});
