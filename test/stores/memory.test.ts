import { array, assert, asyncProperty, constantFrom, integer, nat, option, record } from "fast-check";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it, vi } from "vitest";
import type { Clock } from "../../src/core/clock.ts";
import { ConfigurationError } from "../../src/core/configuration-error.ts";
import { PorticoError } from "../../src/core/portico-error.ts";
import { MemoryCounter } from "../../src/stores/memory-counter.ts";
import { MemoryKeyValue } from "../../src/stores/memory-key-value.ts";
import { MemoryPubSub } from "../../src/stores/memory-pub-sub.ts";
import { type PubSub, PubSubGap, type Topic, topic } from "../../src/stores/pub-sub.ts";
import { memoryStores, type Stores } from "../../src/stores/stores.ts";
import { counterContract, keyValueContract, pubSubContract } from "./contract.ts";

keyValueContract("MemoryKeyValue", () => {
  const clock = handClock();
  return { store: new MemoryKeyValue({ clock }), advance: clock.advance };
});
counterContract("MemoryCounter", () => {
  vi.useFakeTimers();
  return {
    counters: new MemoryCounter(),
    advance: (ms) => void vi.advanceTimersByTime(ms),
    close: () => void vi.useRealTimers(),
  };
});
pubSubContract("MemoryPubSub", () => {
  const bus = new MemoryPubSub({ maxQueued: 10 });
  return { bus, lose: (topic) => publish(bus, topic, 20) };
});

describe("MemoryKeyValue", () => {
  it("holds an entry until the exact millisecond at which it expires", async () => {
    const clock = handClock();
    const store = new MemoryKeyValue({ clock });
    await store.set("a", "x", 1_000);

    clock.advance(999);
    expect(await store.get("a")).toBe("x");
    clock.advance(1);
    expect(await store.get("a")).toBe(null);
  });

  it("goes by the clock that never goes back", async () => {
    let now = 1_000_000;
    const store = new MemoryKeyValue({ clock: { now: () => now, monotonic: () => 0 } });
    await store.set("a", "x", 1_000);

    now += 10_000;

    expect(await store.get("a")).toBe("x");
  });

  it("starts no timers", async () => {
    vi.useFakeTimers();
    const store = new MemoryKeyValue();

    for (let n = 0; n < 100; n++) await store.set(`key ${n}`, "x", 1_000);

    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it("sweeps entries that are over while others are written, without a look at them", async () => {
    const clock = handClock();
    const store = new MemoryKeyValue({ clock });
    for (let n = 0; n < 1_000; n++) await store.set(`brief ${n}`, "x", 1_000);
    await store.set("stays", "x");
    clock.advance(1_000);

    for (let n = 0; n < 500; n++) await store.set("other", "x");

    expect(store.size).toBe(2);
  });

  it("stays near the number of living entries while short ones come and go", async () => {
    const clock = handClock();
    const store = new MemoryKeyValue({ clock });
    let most = 0;

    for (let n = 0; n < 20_000; n++) {
      await store.set(`key ${n}`, "x", 100);
      clock.advance(1);
      most = Math.max(most, store.size);
    }

    expect(most).toBeLessThan(300);
  });

  it("rejects a new key with STORE_FULL if no entry has expired, and drops nothing", async () => {
    const store = new MemoryKeyValue({ clock: handClock(), maxEntries: 2 });
    await store.set("a", "1");
    await store.set("b", "2", 1_000);

    const refused = [store.set("c", "3"), store.setIfAbsent("c", "3"), store.compareAndSet("c", null, "3")];

    for (const { reason } of (await Promise.allSettled(refused)) as PromiseRejectedResult[]) {
      expect(reason).toBeInstanceOf(PorticoError);
      expect(reason).toMatchObject({ code: "STORE_FULL", status: 503 });
      expect((reason as Error).message).toBe(
        "the in-memory store is full: it holds 2 entries, and none of them has expired",
      );
    }
    expect([await store.get("a"), await store.get("b"), await store.get("c")]).toEqual(["1", "2", null]);
  });

  it("still writes to the keys it holds when it is full", async () => {
    const store = new MemoryKeyValue({ maxEntries: 1 });
    await store.set("a", "1");

    await store.set("a", "2");

    expect(await store.compareAndSet("a", "2", "3")).toBe(true);
    expect(await store.setIfAbsent("a", "4")).toBe(false);
    expect(await store.get("a")).toBe("3");
  });

  it("has room again when an entry is deleted, or over wherever it stands", async () => {
    const clock = handClock();
    const store = new MemoryKeyValue({ clock, maxEntries: 1_000 });
    for (let n = 0; n < 998; n++) await store.set(`stays ${n}`, "x");
    await store.set("brief", "x", 1_000);
    await store.set("longer", "x", 2_000);
    await expect(store.set("new", "x")).rejects.toMatchObject({ code: "STORE_FULL" });

    for (const name of ["new", "newer"]) {
      clock.advance(1_000);
      await store.set(name, "x");
      await expect(store.set("newest", "x")).rejects.toMatchObject({ code: "STORE_FULL" });
    }
    await store.delete("new");
    await store.set("newest", "x");

    expect(store.size).toBe(1_000);
  });

  it("behaves like a list of entries with times, whatever is done in whatever order", async () => {
    const key = constantFrom("a", "b", "c", "d", "e");
    const ttl = option(integer({ min: 1, max: 20 }), { nil: undefined });
    const step = record({
      key,
      ttl,
      ms: nat({ max: 10 }),
      call: constantFrom("set", "absent", "swap", "delete"),
    });

    await assert(
      asyncProperty(array(step, { maxLength: 60 }), async (steps) => {
        const clock = handClock();
        const store = new MemoryKeyValue({ clock, maxEntries: 3 });
        let model: { key: string; value: string; until: number }[] = [];
        for (const [n, { key, ttl, ms, call }] of steps.entries()) {
          clock.advance(ms);
          model = model.filter(({ until }) => until > clock.monotonic());
          const held = model.find((entry) => entry.key === key);
          const isFull = held === undefined && model.length === 3;
          const isWritten = call === "set" || (call === "absent" && !held) || (call === "swap" && held !== undefined);
          const done = {
            set: () => store.set(key, String(n), ttl),
            absent: () => store.setIfAbsent(key, String(n), ttl),
            swap: () => store.compareAndSet(key, held?.value ?? "none", String(n), ttl),
            delete: () => store.delete(key),
          }[call]();

          const isRefused = isWritten && isFull;
          const answer = call === "set" ? undefined : call === "delete" ? held !== undefined : isWritten;
          expect(await done.catch((error: PorticoError) => error.code)).toBe(isRefused ? "STORE_FULL" : answer);
          if (isRefused) continue;
          if (isWritten || call === "delete") model = model.filter((entry) => entry !== held);
          if (isWritten)
            model.push({ key, value: String(n), until: clock.monotonic() + (ttl ?? Number.POSITIVE_INFINITY) });
        }
        // Only here: a read would take away what is over, and leave the writes nothing to sweep.
        for (const name of ["a", "b", "c", "d", "e"])
          expect(await store.get(name)).toBe(model.find((entry) => entry.key === name)?.value ?? null);
      }),
    );
  });

  it.each([0, -1, 1.5, "many"])("rejects %s as maxEntries", (maxEntries) => {
    expect(() => new MemoryKeyValue({ maxEntries: maxEntries as number })).toThrow(
      "MemoryKeyValue.maxEntries must be a positive integer",
    );
  });

  it("rejects an invalid clock", () => {
    expect(() => new MemoryKeyValue({ clock: Date as unknown as Clock })).toThrow(
      "MemoryKeyValue.clock must be a clock with now() and monotonic()",
    );
  });
});

describe("MemoryCounter", () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_700_000_000_000 }));
  afterEach(() => void vi.useRealTimers());

  it.each([1, 333, 1_001, 4_350, 16_100])("counts in a window of %s ms to the millisecond", async (windowMs) => {
    const counters = new MemoryCounter();
    const first = await counters.increment("a", windowMs);
    vi.advanceTimersByTime(windowMs - 1);
    const last = await counters.increment("a", windowMs);
    vi.advanceTimersByTime(1);
    const next = await counters.increment("a", windowMs);

    expect(first).toEqual({ value: 1, resetAfterMs: windowMs });
    expect(last).toEqual({ value: 2, resetAfterMs: 1 });
    expect(next).toEqual({ value: 1, resetAfterMs: windowMs });
  });

  it("forgets every key at the end of its window", async () => {
    const counters = new MemoryCounter();
    for (let n = 0; n < 1_000; n++) await counters.increment(`key ${n}`, 1_000);
    expect(vi.getTimerCount()).toBe(1_000);

    vi.advanceTimersByTime(1_000);

    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not keep the process alive", async () => {
    vi.useRealTimers();
    const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

    await new MemoryCounter().increment("a", 60_000);

    expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout")).toHaveLength(before);
  });
});

describe("MemoryPubSub", () => {
  const numbers = topic<number>("numbers");

  it("holds 1,000 events for a subscriber that does not read, and ends it with PubSubGap at the next", async () => {
    const bus = new MemoryPubSub();
    const [slow, slower] = [iterate(bus, numbers), iterate(bus, numbers)];

    await publish(bus, numbers, 1_000);
    expect(await slow.next()).toEqual({ done: false, value: 0 });
    await bus.publish(numbers, 1_000);

    for (let n = 1; n <= 1_000; n++) expect(await slow.next()).toEqual({ done: false, value: n });
    for (let n = 0; n < 1_000; n++) expect(await slower.next()).toEqual({ done: false, value: n });
    await expect(slower.next()).rejects.toThrow(new PubSubGap("numbers", "the subscriber was 1000 events behind"));
    await slow.return?.();
  });

  it("lets no slow subscriber disturb another", async () => {
    const bus = new MemoryPubSub({ maxQueued: 2 });
    const [slow, quick] = [iterate(bus, numbers), iterate(bus, numbers)];

    for (let n = 0; n < 10; n++) {
      await bus.publish(numbers, n);
      expect(await quick.next()).toEqual({ done: false, value: n });
    }

    expect(await slow.next()).toEqual({ done: false, value: 0 });
    await quick.return?.();
  });

  it("lets go of a subscriber at its gap, not when the gap is read", async () => {
    const bus = new MemoryPubSub({ maxQueued: 2 });
    iterate(bus, numbers);

    await publish(bus, numbers, 3);

    expect(bus.topicCount).toBe(0);
  });

  it("drops the rest of a subscription with a gap when its signal is aborted or it is returned", async () => {
    const bus = new MemoryPubSub({ maxQueued: 2 });
    const controller = new AbortController();
    const aborted = bus.subscribe(numbers, { signal: controller.signal })[Symbol.asyncIterator]();
    const returned = iterate(bus, numbers);
    await publish(bus, numbers, 3);

    controller.abort();
    await returned.return?.();

    expect(await aborted.next()).toEqual({ done: true, value: undefined });
    expect(await returned.next()).toEqual({ done: true, value: undefined });
  });

  it("holds nothing after 10,000 subscriptions were opened and left", async () => {
    const bus = new MemoryPubSub();
    const { signal } = new AbortController();

    for (let n = 0; n < 10_000; n++) {
      const iterator = bus.subscribe(topic<number>(`topic ${n % 100}`), { signal })[Symbol.asyncIterator]();
      const waiting = n % 2 === 0 ? iterator.next() : undefined;
      await iterator.return?.();
      await waiting;
    }

    expect(bus.topicCount).toBe(0);
  });

  it("subscribes and unsubscribes before the call returns, without waiting for a promise", () => {
    const bus = new MemoryPubSub();
    const subscribed = bus.subscribe(numbers);
    expect(bus.topicCount).toBe(0);

    const iterator = subscribed[Symbol.asyncIterator]();
    expect(bus.topicCount).toBe(1);
    void iterator.next();
    void iterator.return?.();
    expect(bus.topicCount).toBe(0);
  });

  it("opens nothing for a signal that was aborted before", () => {
    const bus = new MemoryPubSub();

    bus.subscribe(numbers, { signal: AbortSignal.abort() })[Symbol.asyncIterator]();

    expect(bus.topicCount).toBe(0);
  });

  it.each([0, -1, 1.5])("rejects %s as maxQueued", (maxQueued) => {
    expect(() => new MemoryPubSub({ maxQueued })).toThrow("MemoryPubSub.maxQueued must be a positive integer");
  });
});

describe("topic", () => {
  it("returns a frozen object with the name", () => {
    const orders = topic<{ id: string }>("orders");

    expect(orders).toEqual({ name: "orders" });
    expect(Object.isFrozen(orders)).toBe(true);
  });

  it.each(["", 7, undefined])("rejects %j as a name", (name) => {
    expect(() => topic(name as string)).toThrow(ConfigurationError);
    expect(() => topic(name as string)).toThrow("topic.name must be a non-empty string");
  });

  it("types both ends of the bus, and is neither widened nor narrowed", () => {
    const order = topic<{ id: string }>("orders");

    const bus = new MemoryPubSub();

    void bus.publish(order, { id: "7" });
    // @ts-expect-error the value is that of the topic
    void bus.publish(order, { id: 7 });
    expectTypeOf(bus.subscribe(order)).toEqualTypeOf<AsyncIterable<{ id: string }, void, void>>();
    expectTypeOf<Topic<"a">>().not.toExtend<Topic<string>>();
    expectTypeOf<Topic<string>>().not.toExtend<Topic<"a">>();
  });
});

describe("memoryStores", () => {
  it("returns the three roles, empty and new with each call", async () => {
    const [one, two] = [memoryStores(), memoryStores()];
    expectTypeOf(one).toEqualTypeOf<Stores>();
    await one.durable.set("a", "x");
    await one.counters.increment("a", 60_000);

    expect(await two.durable.get("a")).toBe(null);
    expect((await two.counters.increment("a", 60_000)).value).toBe(1);
    expect(one.bus).not.toBe(two.bus);
  });
});

function handClock(): Clock & { readonly advance: (ms: number) => void } {
  let now = 0;
  return { now: () => 1_700_000_000_000 + now, monotonic: () => now, advance: (ms) => void (now += ms) };
}

function iterate<T>(bus: PubSub, topic: Topic<T>): AsyncIterator<T, void, void> {
  return bus.subscribe(topic)[Symbol.asyncIterator]();
}

async function publish(bus: PubSub, topic: Topic<number>, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await bus.publish(topic, n);
}
