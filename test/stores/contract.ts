import { createHash, randomUUID } from "node:crypto";
import { getEventListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CounterStore, Reservation } from "../../src/stores/counter-store.ts";
import type { KeyValueStore } from "../../src/stores/key-value-store.ts";
import { type PubSub, PubSubGap, type Topic, topic } from "../../src/stores/pub-sub.ts";

interface Subject {
  /** Moves the time that the store goes by. @default waits that long */
  readonly advance?: (ms: number) => void | Promise<void>;
  readonly close?: () => void | Promise<void>;
}
export interface KeyValueSubject extends Subject {
  readonly store: KeyValueStore;
}
export interface CounterSubject extends Subject {
  readonly counters: CounterStore;
}
export interface PubSubSubject extends Subject {
  readonly bus: PubSub;
  /** Makes events of the topic get lost for those who listen to it and do not read. */
  readonly lose: (topic: Topic<number>) => void | Promise<void>;
}
type Make<S> = () => S | Promise<S>;

/** Short enough to be waited for. */
const TTL = 200;
/** Longer than any test runs. */
const HOUR = 3_600_000;

/** Long also when it is compressed. */
const LONG = Array.from({ length: 200 }, (_, n) => createHash("sha256").update(String(n)).digest("hex")).join("");
/** Texts that a client can make a key of, and that some server cannot hold as they are. Each is another key than the others. */
const AWKWARD: readonly string[] = [
  "",
  "\0",
  "\0\0",
  "a\0b",
  "a",
  "\ud800",
  "\udfff",
  "\ud800\ud800",
  "\ufffd",
  "x\ud83d",
  "\ud83d\ude00",
  "}{",
  "\r\n",

  "x".repeat(255),
  "x".repeat(256),
  "x".repeat(257),
  LONG,
  `${LONG}.`,
  "x".repeat(3_000),
  "é".repeat(3_000),
  `${"x".repeat(100_000)}\0`,
  "sha256:",
  "sha256:E5qt_FdNNURkC3FSbdtIsGLpIH2dvGSiUFb9R4OeRS8",
];

/** What every `KeyValueStore` promises. The keys are new in each test: a server may hold those of others. */
export function keyValueContract(name: string, make: Make<KeyValueSubject>): void {
  describe(`${name} as a KeyValueStore`, () => {
    const subject = useSubject(make);
    let store: KeyValueStore;
    let key: string;
    beforeEach(() => {
      ({ store } = subject());
      key = randomUUID();
    });
    const gone = async (name: string): Promise<void> => {
      const read = async (): Promise<string | null> => {
        await subject().advance?.(TTL);
        return store.get(name);
      };
      await expect.poll(read, { interval: TTL / 10 }).toBe(null);
    };

    it("returns null for a key that was never written", async () => {
      expect(await store.get(key)).toBe(null);
    });

    it("returns the value that was written last", async () => {
      await store.set(key, "one");
      await store.set(key, "two");

      expect(await store.get(key)).toBe("two");
    });

    it.each(["", " ", "null", "0", 'a "quoted" \\ one', "line\r\nline", "Grüße, 世界 \u{1F600}", "x".repeat(100_000)])(
      "returns the text unchanged: %.20j",
      async (value) => {
        await store.set(key, value);

        expect(await store.get(key)).toBe(value);
      },
    );

    it.each(["__proto__", "constructor", "a:b{c}*?[d]", "%_'; --", "Grüße"])(
      "takes %s as a key like any other",
      async (part) => {
        expect(await store.get(`${part}${key}`)).toBe(null);
        await store.set(`${part}${key}`, "here");

        expect(await store.get(`${part}${key}`)).toBe("here");
        expect(await store.get(key)).toBe(null);
      },
    );

    it("takes any text as a key, and no two texts as one", async () => {
      for (const [index, part] of AWKWARD.entries())
        expect(await store.setIfAbsent(part + key, String(index)), JSON.stringify(part).slice(0, 20)).toBe(true);

      for (const [index, part] of AWKWARD.entries()) {
        expect(await store.compareAndSet(part + key, String(index), `${index}!`)).toBe(true);
        expect(await store.get(part + key)).toBe(`${index}!`);
        expect(await store.delete(part + key)).toBe(true);
      }
    });

    it("deletes a value once and returns true", async () => {
      await store.set(key, "here");

      expect(await store.delete(key)).toBe(true);
      expect(await store.delete(key)).toBe(false);
      expect(await store.get(key)).toBe(null);
    });

    it("returns true to one of many concurrent deletes", async () => {
      await store.set(key, "token");

      const told = await atOnce(20, () => store.delete(key));

      expect(told.filter(Boolean)).toHaveLength(1);
    });

    it("forgets an entry when it expires", async () => {
      await store.set(key, "long", HOUR);
      expect(await store.get(key)).toBe("long");
      await store.set(key, "brief", TTL);

      await gone(key);

      expect(await store.delete(key)).toBe(false);
      expect(await store.compareAndSet(key, "brief", "late")).toBe(false);
    });

    it("replaces the time of an entry with each write", async () => {
      await store.set(key, "one", TTL);
      await store.set(key, "two", HOUR);
      await store.set(`${key}:stays`, "one", TTL);
      await store.set(`${key}:stays`, "two");
      await store.set(`${key}:shorter`, "one");
      await store.set(`${key}:shorter`, "two", TTL);

      // It was written last, so that the time of all others would have passed as well.
      await gone(`${key}:shorter`);

      expect(await store.get(key)).toBe("two");
      expect(await store.get(`${key}:stays`)).toBe("two");
    });

    it("writes with setIfAbsent where there is nothing, and nowhere else", async () => {
      expect(await store.setIfAbsent(key, "first")).toBe(true);
      expect(await store.setIfAbsent(key, "second")).toBe(false);

      expect(await store.get(key)).toBe("first");
    });

    it("returns true to one of many concurrent calls of setIfAbsent", async () => {
      const told = await atOnce(20, (n) => store.setIfAbsent(key, String(n)));

      expect(told.filter(Boolean)).toHaveLength(1);
      expect(await store.get(key)).toBe(String(told.indexOf(true)));
    });

    it("lets setIfAbsent overwrite an expired entry, with a new TTL", async () => {
      for (const name of [key, `${key}:brief`]) await store.setIfAbsent(name, "first", TTL);
      for (const name of [key, `${key}:brief`]) await gone(name);

      expect(await store.setIfAbsent(key, "second", HOUR)).toBe(true);
      expect(await store.get(key)).toBe("second");
      expect(await store.setIfAbsent(`${key}:brief`, "second", TTL)).toBe(true);
      await gone(`${key}:brief`);
      expect(await store.get(key)).toBe("second");
    });

    it("leaves the time of an entry alone when setIfAbsent and compareAndSet do not write", async () => {
      // A host that stands still can let an entry expire before the second write, which then takes place.
      const name = await untilWritten(async (name) => {
        await store.set(name, "first", TTL);
        return !(await store.setIfAbsent(name, "second", HOUR));
      });
      expect(await store.compareAndSet(name, "other", "second", HOUR)).toBe(false);

      await gone(name);
    });

    it("writes with compareAndSet where the value is the expected one, and nowhere else", async () => {
      await store.set(key, "one");

      expect(await store.compareAndSet(key, "other", "two")).toBe(false);
      expect(await store.compareAndSet(key, null, "two")).toBe(false);
      expect(await store.get(key)).toBe("one");
      expect(await store.compareAndSet(key, "one", "two")).toBe(true);
      expect(await store.get(key)).toBe("two");
    });

    it("takes null in compareAndSet for no value, which differs from an empty text", async () => {
      expect(await store.compareAndSet(key, "", "one")).toBe(false);
      expect(await store.compareAndSet(key, null, "")).toBe(true);
      expect(await store.compareAndSet(key, null, "two")).toBe(false);
      expect(await store.compareAndSet(key, "", "two")).toBe(true);
    });

    it("returns true to one of many concurrent rotations of a value", async () => {
      await store.set(key, "parent");

      const told = await atOnce(20, (n) => store.compareAndSet(key, "parent", `child ${n}`));

      expect(told.filter(Boolean)).toHaveLength(1);
      expect(await store.get(key)).toBe(`child ${told.indexOf(true)}`);
    });

    it("sets the TTL of the compareAndSet that wrote the entry", async () => {
      const name = await untilWritten(async (name) => {
        await store.set(name, "one", TTL);
        return store.compareAndSet(name, "one", "two");
      });
      await store.set(`${key}:brief`, "one");
      await store.compareAndSet(`${key}:brief`, "one", "two", TTL);

      await gone(`${key}:brief`);

      expect(await store.get(name)).toBe("two");
    });

    it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
      "rejects %s as a TTL and writes nothing",
      async (ttlMs) => {
        const expected = "ttlMs must be a whole number of milliseconds, 1 or more";

        await expect(store.set(key, "x", ttlMs)).rejects.toThrow(expected);
        await expect(store.setIfAbsent(key, "x", ttlMs)).rejects.toThrow(RangeError);
        await expect(store.compareAndSet(key, null, "x", ttlMs)).rejects.toThrow(RangeError);
        expect(await store.get(key)).toBe(null);
      },
    );
  });
}

/** What every `CounterStore` promises. */
export function counterContract(name: string, make: Make<CounterSubject>): void {
  describe(`${name} as a CounterStore`, () => {
    const subject = useSubject(make);
    let counters: CounterStore;
    let key: string;
    beforeEach(() => {
      ({ counters } = subject());
      key = randomUUID();
    });

    it("forgets the hits of a key that is reset, and of no other", async () => {
      await counters.increment(key, 60_000);
      await counters.increment(key, 3_600_000);
      await counters.increment(`${key}:other`, 60_000);

      await counters.reset(key, 60_000);

      expect((await counters.increment(key, 60_000)).value).toBe(1);
      expect((await counters.increment(key, 3_600_000)).value).toBe(2);
      expect((await counters.increment(`${key}:other`, 60_000)).value).toBe(2);
      await expect(counters.reset(key, 0)).rejects.toThrow(RangeError);
    });

    it("forgets the hits of every key when all are reset, and counts on", async () => {
      await counters.increment(key, 60_000);
      await counters.increment(key, 3_600_000);
      await counters.increment(`${key}:other`, 60_000);

      await counters.resetAll?.();

      expect((await counters.increment(key, 60_000)).value).toBe(1);
      expect((await counters.increment(key, 3_600_000)).value).toBe(1);
      expect((await counters.increment(`${key}:other`, 60_000)).value).toBe(1);
      expect((await counters.increment(key, 60_000)).value).toBe(2);
    });

    it("counts the hits of a key from 1 on, and each key on its own", async () => {
      expect((await counters.increment(key, 60_000)).value).toBe(1);
      expect((await counters.increment(key, 60_000)).value).toBe(2);
      expect((await counters.increment(`${key}:other`, 60_000)).value).toBe(1);
      expect((await counters.increment(key, 60_000)).value).toBe(3);
    });

    it("takes any text as a key, and no two texts as one", async () => {
      for (const part of AWKWARD)
        expect((await counters.increment(part + key, 60_000)).value, JSON.stringify(part).slice(0, 20)).toBe(1);

      for (const part of AWKWARD) {
        expect((await counters.increment(part + key, 60_000)).value).toBe(2);
        await counters.reset(part + key, 60_000);
        expect((await counters.increment(part + key, 60_000)).value).toBe(1);
      }
    });

    it("counts each of many hits at the same time once", async () => {
      const counts = await atOnce(50, () => counters.increment(key, 60_000));

      expect(counts.map(({ value }) => value).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 50 }, (_, n) => n + 1),
      );
    });

    it("says how long until the window ends, in whole milliseconds", async () => {
      const { resetAfterMs } = await counters.increment(key, 60_000);

      expect(Number.isInteger(resetAfterMs)).toBe(true);
      expect(resetAfterMs).toBeGreaterThan(0);
      expect(resetAfterMs).toBeLessThanOrEqual(60_000);
      expect((await counters.increment(`${key}:long`, HOUR)).resetAfterMs).toBeGreaterThan(HOUR / 2);
    });

    it("keeps the window of the first hit, however many follow", async () => {
      const first = await counters.increment(key, HOUR);
      await advance(subject(), 20);
      const second = await counters.increment(key, HOUR);
      await counters.increment(`${key}:brief`, TTL);

      expect([first.value, second.value]).toEqual([1, 2]);
      expect(second.resetAfterMs).toBeLessThan(first.resetAfterMs);
      // A window that each of these hits prolonged would not end.
      await expect
        .poll(
          async () => {
            await subject().advance?.(TTL / 10);
            return (await counters.increment(`${key}:brief`, TTL)).value;
          },
          { interval: TTL / 10 },
        )
        .toBe(1);
    });

    it("counts the same key apart for windows of another length", async () => {
      await counters.increment(key, 60_000);
      await counters.increment(key, 60_000);

      const { value, resetAfterMs } = await counters.increment(key, 3_600_000);

      expect(value).toBe(1);
      expect(resetAfterMs).toBeGreaterThan(3_000_000);
      expect((await counters.increment(key, 60_000)).value).toBe(3);
    });

    it("counts in a window of the longest length", async () => {
      await counters.increment(key, 2_147_483_647);
      await advance(subject(), TTL);

      expect((await counters.increment(key, 2_147_483_647)).value).toBe(2);
    });

    describe("reservations", () => {
      const reserve = (units: number, limit: number, windowMs = 60_000): Promise<Reservation> => {
        if (counters.reserve === undefined) throw new Error("the store has no reserve()");
        return counters.reserve(key, windowMs, units, limit);
      };

      it("counts the units if the limit allows it, and nothing otherwise", async () => {
        const taken = [await reserve(6, 10), await reserve(5, 10), await reserve(4, 10), await reserve(1, 10)];

        expect(taken.map(({ isGranted, value }) => [isGranted, value])).toEqual([
          [true, 6],
          [false, 6],
          [true, 10],
          [false, 10],
        ]);
        for (const { resetAfterMs } of taken) {
          expect(Number.isInteger(resetAfterMs)).toBe(true);
          expect(resetAfterMs).toBeGreaterThan(0);
          expect(resetAfterMs).toBeLessThanOrEqual(60_000);
        }
      });

      it("starts no window for units that are above the limit alone", async () => {
        const refused = await reserve(11, 10);
        await refused.refund(11);

        expect(refused).toMatchObject({ isGranted: false, value: 0, resetAfterMs: 60_000 });
        expect(await reserve(10, 10)).toMatchObject({ isGranted: true, value: 10 });
      });

      it("grants exactly the limit to many callers at once", async () => {
        const taken = await atOnce(60, (n) => reserve(1 + (n % 3), 50));

        const granted = taken.reduce((sum, { isGranted }, n) => sum + (isGranted ? 1 + (n % 3) : 0), 0);
        const rest = await atOnce(5, () => reserve(1, 50));
        expect(granted + rest.filter(({ isGranted }) => isGranted).length).toBe(50);
      });

      it("counts units and hits of a key together, and forgets both when it is reset", async () => {
        await counters.increment(key, 60_000);

        expect(await reserve(3, 10)).toMatchObject({ value: 4 });
        expect((await counters.increment(key, 60_000)).value).toBe(5);
        await counters.reset(key, 60_000);
        expect(await reserve(10, 10)).toMatchObject({ isGranted: true, value: 10 });
      });

      it("takes back units, and never more than were counted", async () => {
        const first = await reserve(6, 10);
        const second = await reserve(4, 10);

        await first.refund(5);
        expect(await reserve(5, 10)).toMatchObject({ isGranted: true, value: 10 });
        await second.refund(99);
        expect(await reserve(10, 10)).toMatchObject({ isGranted: true, value: 10 });
      });

      it("takes back each of many units at once", async () => {
        const taken = await atOnce(20, () => reserve(2, 40));

        await Promise.all(taken.map((reservation) => reservation.refund(1)));

        expect(await reserve(20, 40)).toMatchObject({ isGranted: true, value: 40 });
      });

      it("takes back nothing after the end of the window", async () => {
        const before = await reserve(10, 10, TTL);
        let after = await reserve(10, 10, TTL);
        while (!after.isGranted) {
          await advance(subject(), TTL / 10);
          after = await reserve(10, 10, TTL);
        }

        await before.refund(5);

        expect(after.value).toBe(10);
        // 1 if the host stood still until the next window, but never 6.
        expect([10, 1]).toContain((await reserve(1, 10, TTL)).value);
      });

      it.each([0, -1, 1.5, Number.NaN, 1_000_000_001])("rejects %s as units and as a limit", async (wrong) => {
        await expect(reserve(wrong, 10)).rejects.toThrow("units must be a whole number from 1 to");
        await expect(reserve(1, wrong)).rejects.toThrow("limit must be a whole number from 1 to");
        await expect(reserve(1, 1, 0)).rejects.toThrow(RangeError);
      });

      it("counts up to the highest limit", async () => {
        await reserve(1_000_000_000, 1_000_000_000);

        expect(await reserve(1_000_000_000, 1_000_000_000)).toMatchObject({ isGranted: false, value: 1_000_000_000 });
      });
    });

    it.each([0, -1, 1.5, Number.NaN, 2_147_483_648])("rejects a window of %s ms", async (windowMs) => {
      await expect(counters.increment(key, windowMs)).rejects.toThrow(RangeError);
      await expect(counters.increment(key, windowMs)).rejects.toThrow(
        "windowMs must be a whole number of milliseconds",
      );
    });
  });
}

/** What every `PubSub` promises. */
export function pubSubContract(name: string, make: Make<PubSubSubject>): void {
  describe(`${name} as a PubSub`, () => {
    const subject = useSubject(make);
    let bus: PubSub;
    let numbers: Topic<number>;
    let open: AsyncIterator<unknown, void, void>[];
    beforeEach(() => {
      ({ bus } = subject());
      numbers = topic(`numbers.${randomUUID()}`);
      open = [];
    });
    afterEach(async () => {
      for (const iterator of open) await iterator.return?.();
    });

    function listen<T>(to: Topic<T>, options?: { signal?: AbortSignal }): AsyncIterator<T, void, void> {
      const iterator = bus.subscribe(to, options)[Symbol.asyncIterator]();
      open.push(iterator);
      return iterator;
    }

    it("hands every event to every subscriber in the order of publishing", async () => {
      const [one, two] = [listen(numbers), listen(numbers)];

      for (const n of [1, 2, 3]) await bus.publish(numbers, n);

      expect(await take(one, 3)).toEqual([1, 2, 3]);
      expect(await take(two, 3)).toEqual([1, 2, 3]);
    });

    it("subscribes when the iterator is made, neither before nor at the first next()", async () => {
      const subscribed = bus.subscribe(numbers);
      await bus.publish(numbers, 1);
      const iterator = subscribed[Symbol.asyncIterator]();
      open.push(iterator);
      await bus.publish(numbers, 2);

      expect(await take(iterator, 1)).toEqual([2]);
    });

    it("makes each iterator of one subscribe() a separate subscription", async () => {
      const subscribed = bus.subscribe(numbers);
      const [one, two] = [subscribed[Symbol.asyncIterator](), subscribed[Symbol.asyncIterator]()];
      open.push(one, two);

      await one.return?.();
      await bus.publish(numbers, 1);

      expect(await take(two, 1)).toEqual([1]);
      expect(await one.next()).toEqual({ done: true, value: undefined });
    });

    it("keeps topics apart by name, and by nothing else", async () => {
      const iterator = listen(topic<number>(numbers.name));

      await bus.publish(topic<number>(`${numbers.name}.more`), 1);
      await bus.publish(topic<number>(`${numbers.name.slice(0, -1)}*`), 2);
      await bus.publish(numbers, 3);

      expect(await take(iterator, 1)).toEqual([3]);
    });

    it("publishes without subscribers and without an error", async () => {
      await expect(bus.publish(numbers, 1)).resolves.toBe(undefined);
    });

    it("resolves concurrent calls of next() in order", async () => {
      const iterator = listen(numbers);
      const waiting = [iterator.next(), iterator.next(), iterator.next()];

      for (const n of [1, 2, 3]) await bus.publish(numbers, n);

      expect((await Promise.all(waiting)).map(({ value }) => value)).toEqual([1, 2, 3]);
    });

    it.each([null, 0, "", false, [], { a: [{ b: null }], text: "Grüße \u{1F600}\n" }])("carries %j", async (value) => {
      const anything = topic<unknown>(numbers.name);
      const iterator = listen(anything);

      await bus.publish(anything, value);

      expect(await take(iterator, 1)).toEqual([value]);
    });

    it("copies a value through JSON when it is published: a Date arrives as a string, undefined is dropped", async () => {
      // @ts-expect-error the compiler refuses the Date; code without types gets this
      const visits = topic<{ at: Date; by?: string | undefined; tags: string[] }>(numbers.name);
      const [one, two] = [listen(visits), listen(visits)];
      const visit = { at: new Date(0), by: undefined, tags: ["a"] };

      await bus.publish(visits, visit);
      visit.tags.push("later");
      const [first] = await take(one, 1);
      first?.tags.push("mine");

      expect(await take(two, 1)).toEqual([{ at: "1970-01-01T00:00:00.000Z", tags: ["a"] }]);
    });

    it.each([
      ["undefined", undefined],
      ["a function", () => 1],
      ["a symbol", Symbol("x")],
      ["a bigint", { big: 1n }],
      ["a cycle", circular()],
    ])("rejects %s with a TypeError that names the topic, and delivers nothing", async (_, value) => {
      const anything = topic<unknown>(numbers.name);
      const iterator = listen(anything);

      await expect(bus.publish(anything, value)).rejects.toThrow(TypeError);
      await expect(bus.publish(anything, value)).rejects.toThrow(`an event of ${numbers.name} must be`);
      await bus.publish(anything, "next");
      expect(await take(iterator, 1)).toEqual(["next"]);
    });

    it("settles with subscriptions and without, and they hold then", async () => {
      await bus.settled();
      const iterator = listen(numbers);

      await bus.settled();
      await bus.publish(numbers, 1);

      expect(await take(iterator, 1)).toEqual([1]);
    });

    it("is left by break", async () => {
      const seen: number[] = [];
      const signal = AbortSignal.timeout(10_000);
      const loop = (async () => {
        for await (const n of bus.subscribe(numbers, { signal })) {
          seen.push(n);
          if (n === 2) break;
        }
      })();

      for (const n of [1, 2, 3]) await bus.publish(numbers, n);
      await loop;

      expect(seen).toEqual([1, 2]);
      expect(signal.aborted).toBe(false);
    });

    it("ends at return(), also for calls of next() that wait and events that were not read", async () => {
      const [waits, holds] = [listen(numbers), listen(numbers)];
      await bus.publish(numbers, 1);
      await take(waits, 1);
      const waiting = [waits.next(), waits.next()];

      expect(await waits.return?.()).toEqual({ done: true, value: undefined });
      expect(await holds.return?.()).toEqual({ done: true, value: undefined });

      expect(await Promise.all(waiting)).toEqual([
        { done: true, value: undefined },
        { done: true, value: undefined },
      ]);
      await bus.publish(numbers, 2);
      expect(await waits.next()).toEqual({ done: true, value: undefined });
      expect(await holds.next()).toEqual({ done: true, value: undefined });
    });

    it("ends without an error when the signal is aborted, and leaves no listener on it", async () => {
      const controller = new AbortController();
      const { signal } = controller;
      const [waits, holds, left] = [
        listen(numbers, { signal }),
        listen(numbers, { signal }),
        listen(numbers, { signal }),
      ];
      await bus.publish(numbers, 1);
      await take(waits, 1);
      const waiting = waits.next();
      await left.return?.();
      expect(getEventListeners(signal, "abort")).toHaveLength(2);

      controller.abort();

      expect(await waiting).toEqual({ done: true, value: undefined });
      expect(await holds.next()).toEqual({ done: true, value: undefined });
      expect(getEventListeners(signal, "abort")).toHaveLength(0);
    });

    it("has ended from the start if the signal was aborted before", async () => {
      const iterator = listen(numbers, { signal: AbortSignal.abort() });

      await bus.publish(numbers, 1);

      expect(await iterator.next()).toEqual({ done: true, value: undefined });
    });

    it("returns the events before a gap, throws PubSubGap once and ends; the next subscription works", async () => {
      const iterator = listen(numbers);
      await bus.publish(numbers, 1);

      await subject().lose(numbers);

      expect(await take(iterator, 1)).toEqual([1]);
      const error: unknown = await drain(iterator).catch((error: unknown) => error);
      expect(error).toBeInstanceOf(PubSubGap);
      expect(error).toMatchObject({ code: "PUBSUB_GAP", name: "PubSubGap", topic: numbers.name });
      expect(await iterator.next()).toEqual({ done: true, value: undefined });
      const again = listen(numbers);
      await bus.publish(numbers, 7);
      expect(await take(again, 1)).toEqual([7]);
    });
  });
}

function useSubject<S extends Subject>(make: Make<S>): () => S {
  let subject: S;
  beforeEach(async () => {
    subject = await make();
  });
  afterEach(() => subject.close?.());
  return () => subject;
}

/** Repeats writes, each time with another key, until one has taken place before its entry expired. */
async function untilWritten(write: (key: string) => Promise<boolean>): Promise<string> {
  let key = randomUUID();
  while (!(await write(key))) key = randomUUID();
  return key;
}

async function advance(subject: Subject, ms: number): Promise<void> {
  await (subject.advance ?? sleep)(ms);
}

function atOnce<T>(times: number, call: (n: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: times }, (_, n) => call(n)));
}

async function take<T>(iterator: AsyncIterator<T, void, void>, count: number): Promise<T[]> {
  const values: T[] = [];
  while (values.length < count) {
    const { done, value } = await iterator.next();
    if (done === true) throw new Error(`the subscription ended after ${values.length} events`);
    values.push(value);
  }
  return values;
}

async function drain(iterator: AsyncIterator<unknown, void, void>): Promise<void> {
  while ((await iterator.next()).done !== true);
}

function circular(): object {
  const self: { self?: object } = {};
  self.self = self;
  return self;
}
