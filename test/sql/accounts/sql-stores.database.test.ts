import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { PorticoApp, PubSubGap, topic } from "portico";
import { type Database, migrate, openDatabase, sqlStores } from "portico/sql";
import { testClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { counterContract, keyValueContract, pubSubContract } from "../../stores/contract.ts";
import { engineNames, migratedPlace, newPlace, onServer, type Place } from "./databases.ts";
import { frozenLine } from "./frozen-line.ts";

describe.each(engineNames)("on %s", (name) => {
  let place: Place;
  let database: Database;
  beforeAll(async () => {
    place = await migratedPlace(name);
    database = place.open({ poolSize: 4 });
  });
  afterAll(() => place?.remove());

  keyValueContract("sqlStores().durable", () => ({ store: sqlStores(database).durable }));
  counterContract("sqlStores().counters", () => ({ counters: sqlStores(database).counters }));
  pubSubContract("sqlStores().bus", () => {
    const { bus } = sqlStores(database);
    return {
      bus,
      lose: async (topic) => {
        for (let n = 0; n < 1_100; n++) await bus.publish(topic, n);
      },
      close: () => bus.close?.(),
    };
  });

  it("keeps entries and counts for other processes and after a restart", async () => {
    const before = sqlStores(place.open({ poolSize: 2 }));
    await before.durable.set("restart", "kept");
    await before.counters.increment("restart", 60_000);

    const after = sqlStores(place.open({ poolSize: 2 }));

    expect(await after.durable.get("restart")).toBe("kept");
    expect((await after.counters.increment("restart", 60_000)).value).toBe(2);
  });

  it("is atomic between processes", async () => {
    const [one, two] = [sqlStores(place.open({ poolSize: 2 })), sqlStores(place.open({ poolSize: 2 }))];
    await one.durable.set("race", "0");

    const won = await Promise.all(
      Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? one : two).durable.compareAndSet("race", "0", `${n + 1}`)),
    );
    const counts = await Promise.all(
      Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? one : two).counters.increment("race", 60_000)),
    );

    expect(won.filter(Boolean)).toHaveLength(1);
    expect(new Set(counts.map(({ value }) => value)).size).toBe(40);
  });

  it("does not start before the migrations, and names the command to run", async () => {
    const empty = await newPlace(name);
    const database = empty.open();
    const app = new PorticoApp({ logger: false, stores: sqlStores(database) });

    await expect(app.inject("/")).rejects.toThrow('has pending migrations (4): run "portico migrate up"');

    await migrate(database, "up");
    const client = testClient(new PorticoApp({ logger: false, stores: sqlStores(database) }));
    expect((await client.get("/readyz")).status).toBe(200);
    await empty.remove();
  });

  it("deletes expired rows and no others", async () => {
    const own = await migratedPlace(name);
    const database = own.open();
    const rows = Array.from(
      { length: 30 },
      (_, n) => `('${n}', 'x', ${n < 20 ? 1 : n < 25 ? "null" : "9000000000000"})`,
    );
    await sql.raw(`insert into portico_entries (key, value, expires_ms) values ${rows.join(", ")}`).execute(database);
    const { Sweep } = await import("../../../src/sql/stores/sweep.ts");

    expect(await new Sweep(database, "portico_entries", "expires_ms").run()).toBe(20);

    const left = await database.selectFrom("portico_entries").select("key").execute();
    expect(left.map(({ key }) => Number(key)).toSorted((a, b) => a - b)).toEqual([
      20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
    ]);
    await own.remove();
  });
});

describe("the bus of PostgreSQL", () => {
  const greetings = topic<string>("greetings");
  let place: Place;
  beforeAll(async () => {
    place = await migratedPlace("PostgreSQL");
  });
  afterAll(() => place?.remove());

  it("reaches other processes, with events of any size, in order", async () => {
    const [here, there] = [sqlStores(place.open({ poolSize: 2 })).bus, sqlStores(place.open({ poolSize: 2 })).bus];
    const iterator = there.subscribe(greetings)[Symbol.asyncIterator]();
    await there.settled();
    const long = "Grüße \u{1F600}\n".repeat(5_000);

    await here.publish(greetings, "one");
    await here.publish(greetings, long);
    await here.publish(greetings, "two");

    expect((await iterator.next()).value).toBe("one");
    expect((await iterator.next()).value).toBe(long);
    expect((await iterator.next()).value).toBe("two");
    await iterator.return?.();
  });

  it("does not reach an application in another schema of the same database", async () => {
    const other = await migratedPlace("PostgreSQL");
    const [here, there] = [sqlStores(place.open({ poolSize: 2 })).bus, sqlStores(other.open()).bus];
    const iterator = there.subscribe(greetings)[Symbol.asyncIterator]();
    await there.settled();

    await here.publish(greetings, "for others");
    await there.publish(greetings, "for us");

    expect((await iterator.next()).value).toBe("for us");
    await iterator.return?.();
    await other.remove();
  });

  it("ends subscriptions with a gap when its connection is lost, and reconnects for the next", async () => {
    const { bus } = sqlStores(place.open({ poolSize: 2 }));
    const iterator = bus.subscribe(greetings)[Symbol.asyncIterator]();
    await bus.settled();
    const [listener] = await onServer<{ channel: string }>(
      `select pid, query as channel from pg_stat_activity where query like 'listen "portico_%' and state = 'idle'
       and query like '%' || (select md5($1)) || '%'`,
      [schemaOf(place)],
    );
    expect(listener).toBeDefined();

    await onServer(
      `select pg_terminate_backend(pid) from pg_stat_activity where query like '%' || (select md5($1)) || '%'
       and query like 'listen%'`,
      [schemaOf(place)],
    );

    await expect(iterator.next()).rejects.toThrow(PubSubGap);
    const again = bus.subscribe(greetings)[Symbol.asyncIterator]();
    await bus.settled();
    await bus.publish(greetings, "back");
    expect((await again.next()).value).toBe("back");
    await again.return?.();
  });

  it("ignores notifications of others on its channel", async () => {
    const { bus } = sqlStores(place.open({ poolSize: 2 }));
    const iterator = bus.subscribe(greetings)[Symbol.asyncIterator]();
    await bus.settled();
    const say = (text: string) => onServer(`select pg_notify('portico_' || md5($1), $2)`, [schemaOf(place), text]);

    for (const text of [
      "hello",
      "x 0 more hello",
      "x 0 last hello",
      'x 0 last "greetings',
      'x 0 last "greetings"\nnot JSON',
      "x 0 last 7\n7",
      "x 0 more hello",
    ])
      await say(text);
    await bus.publish(greetings, "one");

    expect((await iterator.next()).value).toBe("one");
    await iterator.return?.();
  });

  it("does not wait for a connection that no longer receives anything, and notifies its subscribers", async () => {
    const line = await frozenLine(place.url);
    const database = openDatabase(line.url, { poolSize: 2 });
    const { bus } = sqlStores(database);
    const iterator = bus.subscribe(greetings)[Symbol.asyncIterator]();
    await bus.settled();
    await bus.publish(greetings, "one");
    expect((await iterator.next()).value).toBe("one");

    line.freeze();
    await bus.publish(greetings, "two");

    await expect(iterator.next()).rejects.toThrow(PubSubGap);
    const again = bus.subscribe(greetings)[Symbol.asyncIterator]();
    await bus.settled();
    await bus.publish(greetings, "three");
    expect((await again.next()).value).toBe("three");
    await again.return?.();
    await database.destroy();
    await line.close();
  });

  it("ends its subscriptions without an error when the database is closed", async () => {
    const database = place.open({ poolSize: 2 });
    const { bus } = sqlStores(database);
    const iterator = bus.subscribe(greetings)[Symbol.asyncIterator]();
    await bus.settled();

    await database.destroy();

    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(await bus.subscribe(greetings)[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
  });

  it("accepts the result of openDatabase, not a transaction", async () => {
    const trx = await place.open().begin();

    expect(() => sqlStores(trx)).toThrow("sqlStores.database must be the result of openDatabase, not a transaction");

    await trx.end("failure");
  });

  it("reports a gap without a tight loop while there is no server", async () => {
    const { bus } = sqlStores(openDatabase("postgres://root@127.0.0.1:1/none"));
    const iterator = bus.subscribe(greetings)[Symbol.asyncIterator]();

    const told = iterator.next().catch((error: unknown) => error);

    // Also after a pause of the process, this timer fires before that of the bus.
    expect(await Promise.race([told, sleep(300, "still trying")])).toBe("still trying");
    expect(await told).toBeInstanceOf(PubSubGap);
  });
});

function schemaOf({ url }: Place): string {
  return /search_path(?:%3D|=)(\w+)/.exec(url)?.[1] ?? "";
}
