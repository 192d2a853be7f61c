import { memoryStores, PorticoApp, type PubSub, topic } from "portico";
import { type Consumer, consume, type Database, sqlStores, type Transaction } from "portico/sql";
import { logCatcher } from "portico/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import { listFailedEvents, retryFailedEvents } from "../../../src/sql/outbox/failed-events.ts";
import { engineNames, migratedPlace, type Place } from "../accounts/databases.ts";

interface Order {
  id: string;
  n: number;
}
interface Tables {
  mails: { id: string; n: number };
}
const placed = topic<Order>("consume-test.placed", { keep: "1d" });
const fleeting = topic<Order>("consume-test.fleeting");
const key = ({ id }: Order): string => id;

describe.each(engineNames)("consume on %s", (engine) => {
  let place: Place;
  let database: Database<Tables>;
  let bus: PubSub;
  let apps: PorticoApp[];
  let names = 0;
  beforeAll(async () => {
    place = await migratedPlace(engine);
    database = place.open<any>() as Database<Tables>;
    await database.schema.createTable("mails").addColumn("id", "text").addColumn("n", "integer").execute();
  });
  beforeEach(async () => {
    await database.deleteFrom("mails").execute();
    ({ bus } = sqlStores(database));
    apps = [];
    return async () => {
      for (const app of apps) await app.close();
      await bus.close?.();
    };
  });
  afterAll(() => place.remove());

  const start = async (consumer: Consumer, log: any = false): Promise<PorticoApp> => {
    const app = new PorticoApp({ logger: log, stores: sqlStores(place.open()), openapi: false });
    apps.push(app.consume(consumer));
    await app.inject("/");
    return app;
  };
  const publish = async (...orders: readonly string[]): Promise<void> => {
    for (const [n, id] of orders.entries()) await bus.publish(placed, { id, n });
  };
  const newName = (): string => `mails-${++names}`;

  it("calls the handler once for each event in order, in one of several processes", async () => {
    const name = newName();
    const handled: string[] = [];
    for (const process of ["a", "b"])
      await start(consume(placed, name, { key }, ({ id, n }) => void handled.push(`${process} ${id} ${n}`)));

    await publish("x", "y", "x", "x");

    await expect.poll(() => handled.length, { timeout: 5_000 }).toBe(4);
    expect(new Set(handled.map((entry) => entry[0])).size).toBe(1);
    expect(handled.map((entry) => entry.slice(2)).filter((entry) => entry.startsWith("x"))).toEqual([
      "x 0",
      "x 2",
      "x 3",
    ]);
  });

  it("continues in another process where the first one has ended", async () => {
    const name = newName();
    const handled: string[] = [];
    const first = await start(consume(placed, name, { key }, ({ n }) => void handled.push(`first ${n}`)));
    await publish("x");
    await expect.poll(() => handled, { timeout: 5_000 }).toEqual(["first 0"]);
    await first.close();
    await publish("x", "x");

    await start(consume(placed, name, { key }, ({ n }) => void handled.push(`second ${n}`)));

    await expect.poll(() => handled, { timeout: 5_000 }).toEqual(["first 0", "second 0", "second 1"]);
  });

  it("retries a failed event, which delays only events with its key", async () => {
    const handled: string[] = [];
    let fails = 2;
    await start(
      consume(placed, newName(), { key }, ({ id, n }, { attempt }) => {
        if (id === "bad" && n === 0 && fails-- > 0) throw new Error("the mail server is down");
        handled.push(`${id} ${n} ${attempt}`);
      }),
    );

    await publish("bad", "good", "bad", "good");

    await expect.poll(() => handled.length, { timeout: 10_000 }).toBe(4);
    expect(handled).toEqual(["good 1 1", "good 3 1", "bad 0 3", "bad 2 1"]);
    await expect.poll(() => listFailedEvents(database, 10)).toEqual([]);
  });

  it("sets the events of a key aside after some failures, until they are driven again", async () => {
    const name = newName();
    const log = logCatcher();
    const handled: string[] = [];
    let isDown = true;
    const consumer = consume(placed, name, { key, maxFailures: 2 }, ({ id, n }) => {
      if (id === "bad" && isDown) throw new Error("the mail server is down");
      handled.push(`${id} ${n}`);
    });
    await start(consumer, log);

    await publish("bad", "bad", "good");
    const failed = async () =>
      (await listFailedEvents(database, 10)).map(({ text, ...rest }) => ({
        ...rest,
        ...JSON.parse(text),
      }));
    await expect
      .poll(async () => (await failed()).map(({ isSetAside }) => isSetAside), { timeout: 10_000 })
      .toEqual([true, true]);
    await publish("bad");
    await expect.poll(async () => (await failed()).length, { timeout: 5_000 }).toBe(3);

    expect(handled).toEqual(["good 2"]);
    expect(await failed()).toMatchObject([
      { consumer: name, key: "bad", failures: 2, isSetAside: true, error: "the mail server is down" },
      { failures: 0, isSetAside: true },
      { failures: 0, isSetAside: true },
    ]);
    expect(log.lines.map(({ msg }) => msg)).toContain(
      `the events of a key were set aside after 2 failures: fix the cause, then run portico events retry ${name}`,
    );
    isDown = false;
    expect(await retryFailedEvents(database, name, "other")).toBe(0);
    expect(await retryFailedEvents(database, name, "bad")).toBe(3);
    await expect.poll(() => handled, { timeout: 5_000 }).toEqual(["good 2", "bad 0", "bad 1", "bad 0"]);
  });

  it("writes with the position in one transaction, and undoes the writes of a failed attempt", async () => {
    let fails = 1;
    const mails = consume(placed, newName(), { key, transactional: database }, async ({ id, n }, { trx }) => {
      expectTypeOf(trx).toEqualTypeOf<Transaction<Tables>>();
      await trx.insertInto("mails").values({ id, n }).execute();
      if (n === 1 && fails-- > 0) throw new Error("refused");
    });
    await start(mails);

    await publish("x", "x", "y");

    const stored = (): Promise<readonly string[]> =>
      database
        .selectFrom("mails")
        .selectAll()
        .execute()
        .then((rows) => rows.map(({ id, n }) => `${id} ${n}`).toSorted());
    await expect.poll(stored, { timeout: 10_000 }).toEqual(["x 0", "x 1", "y 2"]);
  });

  it("does not let a process whose lease has passed to another one move the position back", async () => {
    const name = newName();
    const paused = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    let isFirst = true;
    const mails = consume(placed, name, { key, transactional: database }, async ({ id, n }, { trx }) => {
      await trx.insertInto("mails").values({ id, n }).execute();
      if (!isFirst) return;
      isFirst = false;
      // As if the process had been stopped here: another one takes the lease meanwhile.
      entered.resolve();
      await paused.promise;
    });
    await start(mails);
    await publish("x");
    await entered.promise;
    if (engine === "SQLite") paused.resolve();
    else {
      await (database as Database)
        .updateTable("portico_leases")
        .set({ holder: "another process", position: 1_000_000 })
        .where("name", "=", `consumer:${name}`)
        .execute();
      paused.resolve();
    }

    await expect
      .poll(
        async () =>
          Number(
            (
              await (database as Database)
                .selectFrom("portico_leases")
                .select("position")
                .where("name", "=", `consumer:${name}`)
                .executeTakeFirst()
            )?.["position"],
          ),
        { timeout: 5_000 },
      )
      .toBeGreaterThan(0);
    const rows = await database.selectFrom("mails").selectAll().execute();
    expect(rows.length).toBe(engine === "SQLite" ? 1 : 0);
  });
});

describe("consume", () => {
  it("rejects a topic that is not durable, at once and in its type of options", () => {
    expect(() => consume(fleeting, "mail", { key }, () => {})).toThrow(
      'consume.topic must be durable: declare consume-test.fleeting with keep, such as "1d"',
    );
    expect(() => consume(placed, "", { key }, () => {})).toThrow("consume.name must be");
    // @ts-expect-error -- the key is required
    expect(() => consume(placed, "mail", {}, () => {})).toThrow("consume.key");
    // @ts-expect-error -- events have no such property
    consume(placed, "mail", { key: ({ isbn }) => isbn }, () => {});
    // @ts-expect-error -- there is no transaction without `transactional`
    consume(placed, "mail", { key }, (_, { trx }) => trx);
  });

  it("stops startup on a bus that can't keep events, and with two consumers of one name", async () => {
    const consumer = consume(placed, "mail", { key }, () => {});
    const app = new PorticoApp({ logger: false, stores: memoryStores() }).consume(consumer);

    await expect(app.inject("/")).rejects.toThrow(
      "PorticoApp.stores.bus cannot keep the events of consume-test.placed",
    );
    expect(() => app.consume(consumer)).toThrow("PorticoApp.consume has two consumers named mail");
  });
});
