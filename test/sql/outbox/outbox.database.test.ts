import { memoryStores, PorticoApp, type PubSub, type Topic, topic } from "portico";
import { type Database, migrate, openDatabase, outbox, sqlStores, transaction } from "portico/sql";
import { testClient } from "portico/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { keptFor, SLOTS, slotTable } from "../../../src/sql/migrations/create-outbox.ts";
import { engineNames, migratedPlace, type Place } from "../accounts/databases.ts";

interface Tables {
  books: { title: string };
}

const added = topic<{ title: string }>("outbox-test.added", { keep: "1d" });
const removed = topic<{ title: string }>("outbox-test.removed", { keep: "1h" });
const passing = topic<{ title: string }>("outbox-test.passing");

/**
 * Collects the values of a topic until it is stopped. While a transaction is open anywhere on the server, a subscription may begin
 * with events of earlier tests, so each test has titles that begin with its own word.
 */
function collect<T extends { title: string }>(bus: PubSub, from: Topic<T>, word: string) {
  const values: T[] = [];
  const stop = new AbortController();
  const done = (async () => {
    for await (const value of bus.subscribe(from, { signal: stop.signal }))
      if (value.title.startsWith(word)) values.push(value);
  })();
  return { values, stop: async () => (stop.abort(), done) };
}

describe.each(engineNames)("durable topics on %s", (engine) => {
  let place: Place;
  let database: Database<Tables>;
  let bus: PubSub;
  beforeAll(async () => {
    place = await migratedPlace(engine);
    database = place.open<any>() as Database<Tables>;
    await database.schema.createTable("books").addColumn("title", "text").execute();
  });
  beforeEach(() => {
    ({ bus } = sqlStores(database));
    return () => bus.close?.();
  });
  afterAll(() => place.remove());

  const app = (given = bus): PorticoApp => {
    const built = new PorticoApp({ logger: false, stores: { ...memoryStores(), bus: given } });
    built.post("/books/:title", { params: { trx: transaction(database) } }, async ({ ctx, trx, path: { title } }) => {
      await trx.insertInto("books").values({ title }).execute();
      await ctx.pubsub.publish(added, { title });
      await ctx.pubsub.publish(passing, { title });
      if (title.startsWith("savepoint")) {
        const inner = await trx.begin();
        await ctx.pubsub.publish(added, { title: `${title}, inner` });
        await inner.end(title.endsWith("kept") ? "success" : "failure");
      }
      if (title === "refused") throw new Error("refused");
      await ctx.pubsub.publish(removed, { title });
    });
    built.post("/kysely/:title", ({ ctx, path: { title } }) =>
      database.transaction().execute(async (trx) => {
        await trx.insertInto("books").values({ title }).execute();
        await ctx.pubsub.publish(added, { title });
        if (title === "refused") throw new Error("refused");
      }),
    );
    built.post("/many/:count", { params: { trx: transaction(database) } }, async ({ ctx, path }) => {
      for (let n = 0; n < Number(path.count); n++) await ctx.pubsub.publish(added, { title: `book ${n}` });
    });
    return built;
  };
  const events = async (): Promise<readonly string[]> =>
    (
      await (database as Database).selectFrom("portico_events").select(["topic", "payload"]).orderBy("seq").execute()
    ).map(({ topic: name, payload }) => `${String(name).split(".")[1]} ${JSON.parse(payload).title}`);
  const since = async (before: readonly string[]): Promise<readonly string[]> => (await events()).slice(before.length);

  it("writes the events of a transaction as part of it, and delivers them to every process", async () => {
    const other = sqlStores(place.open()).bus;
    const [here, there, plain] = [
      collect(bus, added, "Emma"),
      collect(other, added, "Emma"),
      collect(bus, passing, "Emma"),
    ];
    await Promise.all([bus.settled(), other.settled()]);
    const before = await events();

    const { status } = await testClient(app()).post("/books/Emma");

    expect(status).toBe(204);
    expect(await since(before)).toEqual(["added Emma", "removed Emma"]);
    await expect.poll(() => here.values).toEqual([{ title: "Emma" }]);
    await expect.poll(() => there.values).toEqual([{ title: "Emma" }]);
    await expect.poll(() => plain.values).toEqual([{ title: "Emma" }]);
    await Promise.all([here.stop(), there.stop(), plain.stop()]);
    await other.close?.();
  });

  it("writes nothing for a transaction or a savepoint that is rolled back", async () => {
    const client = testClient(app());
    const before = await events();

    await client.post("/books/refused");
    await client.post("/books/savepoint dropped");
    await client.post("/books/savepoint kept");
    await client.post("/kysely/refused");
    await client.post("/kysely/Persuasion");

    expect(await since(before)).toEqual([
      "added savepoint dropped",
      "removed savepoint dropped",
      "added savepoint kept",
      "added savepoint kept, inner",
      "removed savepoint kept",
      "added Persuasion",
    ]);
  });

  it("publishes outside a transaction with one of its own, in order", async () => {
    const { values, stop } = collect(bus, added, "alone");
    await bus.settled();

    for (let n = 0; n < 20; n++) await bus.publish(added, { title: `alone ${n}` });

    await expect.poll(() => values.length, { timeout: 10_000 }).toBe(20);
    expect(values.map(({ title }) => title)).toEqual(Array.from({ length: 20 }, (_, n) => `alone ${n}`));
    await stop();
  });

  it("lets a slow subscriber read from the table what it has not read yet", async () => {
    const reader = bus.subscribe(added)[Symbol.asyncIterator]();
    await bus.settled();
    const first = reader.next();
    await testClient(app()).post("/many/1600");

    const titles: string[] = [];
    let next = await first;
    while (next.done !== true) {
      if (next.value.title.startsWith("book")) titles.push(next.value.title);
      if (titles.length === 1_600) break;
      next = await reader.next();
    }

    expect(titles).toEqual(Array.from({ length: 1_600 }, (_, n) => `book ${n}`));
    await reader.return?.();
  });

  it("delivers without the bus, by polling the table", async () => {
    const { bus: inner } = memoryStores();
    const deaf: PubSub = Object.assign(Object.create(inner) as PubSub, {
      publish: () => Promise.reject(new Error("the bus is down")),
      subscribe: inner.subscribe.bind(inner),
      settled: () => Promise.resolve(),
    });
    const [mine, others] = [outbox(database, deaf), outbox(place.open(), deaf)];
    const [one, two] = [collect(mine, added, "Sanditon"), collect(others, added, "Sanditon")];
    await Promise.all([mine.settled(), others.settled()]);

    await mine.publish(added, { title: "Sanditon" });

    await expect
      .poll(() => [one.values, two.values], { timeout: 5_000 })
      .toEqual([[{ title: "Sanditon" }], [{ title: "Sanditon" }]]);
    await Promise.all([one.stop(), two.stop()]);
    await Promise.all([mine.close?.(), others.close?.()]);
  });

  it("fails a transaction of another database, whose commit could not contain the events", async () => {
    const elsewhere = await migratedPlace(engine);
    const { bus: foreign } = sqlStores(elsewhere.open());
    const before = await events();

    const { status } = await testClient(app(foreign)).post("/books/Lady Susan");

    expect(status).toBe(500);
    expect(await since(before)).toEqual([]);
    await foreign.close?.();
    await elsewhere.remove();
  });

  it("ends a subscription when it is left or aborted, also while it waits", async () => {
    const reader = bus.subscribe(added)[Symbol.asyncIterator]();
    const end = new AbortController();
    const aborted = bus.subscribe(added, { signal: end.signal })[Symbol.asyncIterator]();
    await bus.settled();
    const waiting = [reader.next(), aborted.next()];

    await reader.return?.();
    end.abort();

    expect(await Promise.all(waiting)).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
    expect(bus.topicCount).toBe(2);
  });
});

describe("old events", () => {
  it("leave PostgreSQL with the whole table of their slot, never with one that may be written to", async () => {
    const place = await migratedPlace("PostgreSQL");
    const database = place.open<any>();
    const { bus } = sqlStores(database);
    await bus.publish(removed, { title: "now" });
    const { firstSlot, stepSeconds } = keptFor["1h"];
    const step = Math.floor(Date.now() / 1000 / stepSeconds);
    const next = firstSlot + ((step + 1) % SLOTS);
    await database
      .insertInto("portico_events")
      .values({ slot: next, topic: removed.name, payload: '{"title":"old"}', seq: 0 })
      .execute();

    const { cleanEvents } = await import("../../../src/sql/outbox/clean-events.ts");
    await cleanEvents(database);

    const rows = await database.selectFrom("portico_events").select("payload").execute();
    expect(rows).toEqual([{ payload: '{"title":"now"}' }]);
    expect(slotTable("1h", next)).toMatch(/^portico_events_1h_\d$/);
    await bus.close?.();
    await place.remove();
  });
});

describe("an application without a database for its durable topics", () => {
  it("rejects what it can't keep with a sentence that names the topic", async () => {
    const { bus } = memoryStores();

    await expect(bus.publish(added, { title: "Emma" })).rejects.toThrow(
      'PorticoApp.stores.bus cannot keep the events of outbox-test.added, which is declared with keep: "1d". Use sqlStores, or wrap the bus in outbox(database, bus)',
    );
    expect(() => bus.subscribe(added)).toThrow("cannot keep the events of outbox-test.added");
  });

  it("names the migration if the tables are missing", async () => {
    const database = openDatabase("sqlite::memory:");
    const { bus } = sqlStores(database);

    await expect(bus.publish(added, { title: "Emma" })).rejects.toThrow("run portico migrate up");
    await migrate(database, "up");
    await bus.publish(added, { title: "Emma" });
    await bus.close?.();
    await database.destroy();
  });
});
