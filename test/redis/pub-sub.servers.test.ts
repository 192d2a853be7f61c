import { setTimeout as sleep } from "node:timers/promises";
import { array, assert, asyncProperty, constantFrom } from "fast-check";
import { PubSubGap, type Topic, topic } from "portico";
import { RedisPubSub } from "portico/redis";
import { createClient } from "redis";
import { afterEach, describe, expect, it } from "vitest";
import { newPrefix, RedisServer, SHARED_URL } from "../../lab/servers/redis-server.ts";

describe("RedisPubSub", () => {
  const open: RedisPubSub[] = [];
  function bus(prefix: string, options: object = {}): RedisPubSub {
    const made = new RedisPubSub(SHARED_URL, { prefix, ...options });
    open.push(made);
    return made;
  }
  afterEach(async () => {
    for (const made of open.splice(0)) await made.close();
  });

  it("delivers events to other processes in order, topic by topic", async () => {
    const prefix = newPrefix();
    const [here, there] = [bus(prefix), bus(prefix)];
    const [a, b] = [topic<number>("a"), topic<number>("b")];
    const [fromA, fromB] = [iterate(there, a), iterate(there, b)];
    await there.settled();

    await Promise.all(Array.from({ length: 500 }, (_, n) => [here.publish(a, n), here.publish(b, n + 1_000)]).flat());

    const expected = Array.from({ length: 500 }, (_, n) => n);
    expect(await take(fromA, 500)).toEqual(expected);
    expect(await take(fromB, 500)).toEqual(expected.map((n) => n + 1_000));
  });

  it("delivers everything that another process publishes after settled() has resolved", async () => {
    const prefix = newPrefix();
    const [here, there] = [bus(prefix), bus(prefix)];
    await here.check();

    for (let n = 0; n < 50; n++) {
      const numbers = topic<number>(`numbers ${n}`);
      const iterator = iterate(there, numbers);
      await there.settled();
      await here.publish(numbers, n);
      expect(await iterator.next()).toEqual({ done: false, value: n });
    }
  });

  it("subscribes once to a topic, however many subscribers there are, and unsubscribes after the last one", async () => {
    const prefix = newPrefix();
    const one = bus(prefix);
    const numbers = topic<number>("numbers");
    const channel = `${prefix}:bus:numbers`;
    const client = await createClient({ url: SHARED_URL }).connect();
    const listeners = Array.from({ length: 100 }, () => iterate(one, numbers));
    await one.settled();

    expect(await client.pubSubNumSub(channel)).toEqual({ [channel]: 1 });
    await one.publish(numbers, 7);
    for (const listener of listeners) expect(await listener.next()).toEqual({ done: false, value: 7 });

    for (const listener of listeners) await listener.return?.();
    await one.settled();
    expect(await client.pubSubNumSub(channel)).toEqual({ [channel]: 0 });
    expect(one.topicCount).toBe(0);
    client.destroy();
  });

  it("reaches exactly the current subscribers, however quickly they come and go", async () => {
    const prefix = newPrefix();
    let made = 0;
    await assert(
      asyncProperty(array(constantFrom("come", "go", "publish", "wait"), { maxLength: 30 }), async (steps) => {
        const one = new RedisPubSub(SHARED_URL, { prefix });
        const numbers = topic<number>(`numbers ${made++}`);
        const present: { readonly iterator: AsyncIterator<number, void, void>; readonly due: number[] }[] = [];
        const published: Promise<void>[] = [];
        for (const [n, step] of steps.entries()) {
          if (step === "come") present.push({ iterator: iterate(one, numbers), due: [] });
          if (step === "go") void present.shift()?.iterator.return?.();
          if (step === "wait") await one.settled();
          if (step === "publish") {
            published.push(one.publish(numbers, n));
            for (const { due } of present) due.push(n);
          }
        }
        await Promise.all(published);
        for (const { iterator, due } of present) {
          expect(await take(iterator, due.length)).toEqual(due);
          await iterator.return?.();
        }
        await one.settled();
        expect(one.topicCount).toBe(0);
        await one.close();
      }),
      { numRuns: 150 },
    );
  });

  it("leaves nothing behind after 10,000 subscriptions were opened and closed", async () => {
    const prefix = newPrefix();
    const one = bus(prefix);
    const client = await createClient({ url: SHARED_URL }).connect();

    for (let n = 0; n < 10_000; n++) {
      const iterator = iterate(one, topic<number>(`topic ${n % 100}`));
      const waiting = n % 2 === 0 ? iterator.next() : undefined;
      await iterator.return?.();
      await waiting;
    }
    await one.settled();

    expect(one.topicCount).toBe(0);
    expect(await client.pubSubChannels(`${prefix}:*`)).toEqual([]);
    client.destroy();
  });

  it("delivers plain JSON from another program, and ignores invalid messages", async () => {
    const prefix = newPrefix();
    const one = bus(prefix);
    const client = await createClient({ url: SHARED_URL }).connect();
    const iterator = iterate(one, topic<object>("orders"));
    await one.settled();

    for (const text of ["{", "", "@", "@x.1 {", "@x.1 ", "undefined", '{"id":"7"}'])
      await client.publish(`${prefix}:bus:orders`, text);

    expect(await iterator.next()).toEqual({ done: false, value: { id: "7" } });
    client.destroy();
  });

  it("ends its subscriptions without an error when it is closed, and later ones immediately", async () => {
    const one = bus(newPrefix());
    const numbers = topic<number>("numbers");
    const waiting = iterate(one, numbers).next();

    await one.close();

    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await iterate(one, numbers).next()).toEqual({ done: true, value: undefined });
    await expect(one.publish(numbers, 1)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});

describe("during a Redis outage, a bus", () => {
  let server: RedisServer;
  const open: RedisPubSub[] = [];
  function bus(options: object = {}): RedisPubSub {
    const made = new RedisPubSub(server.url, options);
    open.push(made);
    return made;
  }
  afterEach(async () => {
    for (const made of open.splice(0)) await made.close();
    await server.remove();
  });

  it("notifies every subscriber of the gap under load, and delivers new events after the return", async () => {
    server = await RedisServer.start();
    const [here, there] = [bus(), bus()];
    const topics = Array.from({ length: 5 }, (_, n) => topic<number>(`topic ${n}`));
    const followers = topics.flatMap((to) => [here, there].flatMap((on) => [follow(on, to), follow(on, to)]));
    await Promise.all([here.settled(), there.settled()]);
    const publisher = publishAll(here, topics);
    await expect.poll(() => followers.every(({ heard }) => heard.length > 0)).toBe(true);

    await server.kill();
    await server.start();
    const hasGoneOn = ({ heard }: Follower): boolean => heard.includes(null) && heard.at(-1) !== null;
    await expect.poll(() => followers.every(hasGoneOn)).toBe(true);
    const delivered = await publisher.stop();

    for (const { heard, topic: to } of followers) {
      await expect.poll(() => missing(heard, delivered.get(to) ?? [])).toEqual([]);
      expect(heard.filter((number) => number === null)).toHaveLength(1);
      expect(heard.indexOf(null)).toBeGreaterThan(0);
    }
  });

  it("also notifies subscribers who subscribed during the outage, each of them once", async () => {
    server = await RedisServer.start();
    const one = bus();
    const numbers = topic<number>("numbers");
    const early = iterate(one, numbers);
    await one.settled();
    await server.kill();
    await expect(one.publish(numbers, 1)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", status: 503 });
    const late = iterate(one, numbers);
    const later = iterate(one, topic<number>("others"));

    const told = [early, late, later].map((iterator) => failureOf(iterator.next()));
    await expect(one.publish(numbers, 2)).rejects.toThrow("Redis does not respond (bus)");
    await server.start();

    for (const gap of told) expect(await gap).toBeInstanceOf(PubSubGap);
    expect(await late.next()).toEqual({ done: true, value: undefined });
    const again = iterate(one, numbers);
    await one.publish(numbers, 3);
    expect(await again.next()).toEqual({ done: false, value: 3 });
    expect(one.topicCount).toBe(1);
  });

  it("delivers the events from before the gap first", async () => {
    server = await RedisServer.start();
    const one = bus();
    const numbers = topic<number>("numbers");
    const iterator = iterate(one, numbers);
    for (const n of [1, 2, 3]) await one.publish(numbers, n);
    await server.kill();
    await server.start();
    await expect
      .poll(() =>
        one.check().then(
          () => "there",
          () => "away",
        ),
      )
      .toBe("there");

    expect(await take(iterator, 3)).toEqual([1, 2, 3]);
    await expect(iterator.next()).rejects.toThrow(
      "events of numbers may have been lost: the connection to Redis was lost",
    );
  });

  it("notices a Redis that hangs, even without traffic", async () => {
    server = await RedisServer.start();
    const one = bus({ timeoutSeconds: 0.3 });
    const told = failureOf(iterate(one, topic<number>("numbers")).next());
    await one.settled();

    // The gap is reported when Redis is there again. A pause of this process may hide that Redis hung.
    const hang = async (): Promise<unknown> => {
      server.freeze();
      await sleep(1_000);
      server.thaw();
      return Promise.race([told, sleep(200)]);
    };
    await expect.poll(hang).toBeDefined();

    expect(await told).toBeInstanceOf(PubSubGap);
  });

  it("lets at most 10,000 events wait for a subscription that Redis does not confirm", async () => {
    server = await RedisServer.start();
    const one = bus({ timeoutSeconds: 60 });
    const numbers = topic<number>("numbers");
    await one.publish(numbers, 0);
    server.freeze();
    const waiting = iterate(one, numbers).next();
    const published = Array.from({ length: 10_000 }, (_, n) => one.publish(numbers, n + 1));
    const refused = await failureOf(one.publish(numbers, 10_001));
    server.thaw();
    await Promise.all(published);

    expect(refused).toMatchObject({
      message: "Redis has not confirmed a subscription, and 10000 events wait for it",
    });
    expect(await waiting).toEqual({ value: 1, done: false });
  });

  it("waits for a Redis that was never up, and starts with a gap", async () => {
    server = await RedisServer.start();
    await server.kill();
    const one = bus();
    const numbers = topic<number>("numbers");
    const told = failureOf(iterate(one, numbers).next());
    await one.settled();
    await server.start();

    expect(await told).toBeInstanceOf(PubSubGap);
  });

  it("ends a subscription that Redis rejects with a gap that has the reason", async () => {
    server = await RedisServer.start();
    const admin = await createClient({ url: server.url }).connect();
    await admin.sendCommand(["ACL", "SETUSER", "default", "resetchannels"]);
    const iterator = iterate(bus(), topic<number>("numbers"));

    const told: unknown = await iterator.next().catch((error: unknown) => error);

    expect(told).toBeInstanceOf(PubSubGap);
    expect((told as PubSubGap).message).toBe("events of numbers may have been lost: Redis rejected the subscription");
    expect(((told as PubSubGap).cause as Error).cause).toMatchObject({ message: expect.stringContaining("NOPERM") });
    admin.destroy();
  });
});

interface Follower {
  readonly topic: Topic<number>;
  /** `null` is a gap. */
  readonly heard: (number | null)[];
}

/** Reads continuously and subscribes again after a gap. */
function follow(bus: RedisPubSub, topic: Topic<number>): Follower {
  const heard: (number | null)[] = [];
  const read = async (): Promise<void> => {
    try {
      for await (const number of bus.subscribe(topic)) heard.push(number);
    } catch (error) {
      if (!(error instanceof PubSubGap)) throw error;
      heard.push(null);
      await read();
    }
  };
  void read();
  return { topic, heard };
}

/** Publishes rising numbers to all topics, and records which of them Redis accepted. */
function publishAll(
  bus: RedisPubSub,
  topics: readonly Topic<number>[],
): { readonly stop: () => Promise<ReadonlyMap<Topic<number>, readonly number[]>> } {
  const taken = new Map(topics.map((to) => [to, [] as number[]]));
  const stopping = new AbortController();
  const publish = async (to: Topic<number>, number: number): Promise<void> => {
    await bus.publish(to, number);
    taken.get(to)?.push(number);
  };
  const running = (async () => {
    for (let number = 0; !stopping.signal.aborted; number++) {
      await Promise.allSettled(topics.map((to) => publish(to, number)));
      await sleep(2);
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await running;
      return taken;
    },
  };
}

/** Returns the numbers that Redis accepted between two events that arrived without a gap between them. */
function missing(heard: readonly (number | null)[], taken: readonly number[]): readonly number[] {
  return heard.flatMap((number, index) => {
    const next = heard[index + 1] ?? null;
    if (number === null || next === null) return [];
    return next > number ? taken.filter((n) => n > number && n < next) : [next];
  });
}

/** Returns the rejection of a promise. It is handled from the start, however late the test looks. */
function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}

function iterate<T>(bus: RedisPubSub, topic: Topic<T>): AsyncIterator<T, void, void> {
  return bus.subscribe(topic)[Symbol.asyncIterator]();
}

async function take<T>(iterator: AsyncIterator<T, void, void>, count: number): Promise<readonly (T | undefined)[]> {
  const taken: (T | undefined)[] = [];
  while (taken.length < count) taken.push((await iterator.next()).value as T | undefined);
  return taken;
}
