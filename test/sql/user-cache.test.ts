import { setImmediate } from "node:timers/promises";
import { type PubSub, userChanged } from "portico";
import { expect, it, onTestFinished } from "vitest";
import { UserCache } from "../../src/sql/users/user-cache.ts";
import type { StoredUser } from "../../src/sql/users/user-record.ts";
import { MemoryPubSub } from "../../src/stores/memory-pub-sub.ts";

const stored = (id: string, username: string) => ({ id, username }) as unknown as StoredUser;

/** A bus between processes, whose connection a test can cut. */
class SharedBus extends MemoryPubSub {
  isConnected = true;
  /** Delays the moment from which events of other processes arrive. */
  ready: Promise<void> = Promise.resolve();
  override settled(): Promise<void> {
    return this.ready;
  }
}

/** A cache over a table with one user, and the number of times that the user was loaded. */
function madeCache(bus: PubSub | undefined) {
  const closing = new AbortController();
  onTestFinished(() => closing.abort());
  const cache = new UserCache({ seconds: 60, bus, closing: closing.signal });
  const table = { name: "ann", loads: 0 };
  const load = async (): Promise<StoredUser> => {
    table.loads++;
    return stored("1", table.name);
  };
  return { cache, closing, table, name: async () => (await cache.get("1", load))?.username };
}

/** Like `madeCache`, with the user in the cache. */
async function filledCache(bus: SharedBus) {
  const made = madeCache(bus);
  await made.name();
  await setImmediate();
  await made.name();
  const before = made.table.loads;
  expect(await made.name()).toBe("ann");
  expect(made.table.loads).toBe(before);
  return made;
}

it("does not cache or share a user whose load began before a change and ended after it", async () => {
  const bus = new SharedBus();
  const { cache, name, table } = await filledCache(bus);
  cache.forget("1");
  const reading: PromiseWithResolvers<StoredUser> = Promise.withResolvers();
  const early = cache.get("1", () => reading.promise);

  table.name = "bea";
  await bus.publish(userChanged, { user: "1" });
  await setImmediate();
  const late = name();
  reading.resolve(stored("1", "ann"));

  expect((await early)?.username).toBe("ann");
  expect(await late).toBe("bea");
  expect(await name()).toBe("bea");
});

it("does not cache a user whose load began before changes were received", async () => {
  const bus = new SharedBus();
  const active: PromiseWithResolvers<void> = Promise.withResolvers();
  bus.ready = active.promise;
  const { cache, name, table } = madeCache(bus);
  const reading: PromiseWithResolvers<StoredUser> = Promise.withResolvers();
  const early = cache.get("1", () => reading.promise);

  // Another process publishes its change before this process is subscribed.
  table.name = "bea";
  active.resolve();
  await setImmediate();
  reading.resolve(stored("1", "ann"));
  await early;

  expect(await name()).toBe("bea");
});

it("returns nothing from memory while the connection to the bus is lost, and caches again afterwards", async () => {
  const bus = new SharedBus({ maxQueued: 1 });
  const { name, table } = await filledCache(bus);

  bus.isConnected = false;
  table.name = "bea";
  expect(await name()).toBe("bea");
  table.name = "cea";
  expect(await name()).toBe("cea");

  bus.isConnected = true;
  // A bus ends its subscriptions with a gap when it is connected again.
  for (let n = 0; n < 5; n++) void bus.publish(userChanged, { user: "another" });
  await setImmediate();
  expect(await name()).toBe("cea");
  table.name = "dea";
  expect(await name()).toBe("cea");
});

it("does not cache a user whose load ended during an outage of the bus", async () => {
  const bus = new SharedBus({ maxQueued: 1 });
  const { cache, name, table } = await filledCache(bus);
  cache.forget("1");
  const reading: PromiseWithResolvers<StoredUser> = Promise.withResolvers();
  const early = cache.get("1", () => reading.promise);

  bus.isConnected = false;
  reading.resolve(stored("1", "ann"));
  await early;
  table.name = "bea";
  bus.isConnected = true;

  expect(await name()).toBe("bea");
});

it("holds at most 10,000 users", async () => {
  const { cache } = madeCache(undefined);
  const loaded: string[] = [];
  const get = (id: string) =>
    cache.get(id, async () => {
      loaded.push(id);
      return stored(id, id);
    });
  for (let n = 0; n <= 10_000; n++) await get(String(n));
  loaded.length = 0;

  for (const id of ["10000", "1", "0"]) await get(id);

  expect(loaded).toEqual(["0"]);
});

it("removes one user, or all of them if any may have changed", async () => {
  const bus = new SharedBus();
  const { name, table } = await filledCache(bus);

  for (const [user, next] of [
    ["another", "ann"],
    ["1", "bea"],
    [null, "cea"],
  ] as const) {
    table.name = next === "ann" ? "unseen" : next;
    await bus.publish(userChanged, { user });
    await setImmediate();
    expect(await name()).toBe(next);
  }
});

it("ends its subscriptions when the database is closed, and caches nothing from then on", async () => {
  const bus = new SharedBus();
  const { closing, name, table } = await filledCache(bus);

  closing.abort();
  await setImmediate();
  table.name = "bea";

  expect(bus.topicCount).toBe(0);
  expect(await name()).toBe("bea");
});
