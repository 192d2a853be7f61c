import { deepEqual, equal, ok } from "node:assert/strict";
import { array, assert, asyncProperty, constantFrom } from "fast-check";
import { PubSubGap, topic } from "portico";
import { RedisPubSub } from "portico/redis";
import { expect, it, vi } from "vitest";
import { ScheduledRedis } from "./scheduled-redis.ts";
import { atRest, schedules, step } from "./schedules.ts";

const server = vi.hoisted((): { current: unknown } => ({ current: null }));
vi.mock("../../../src/redis/redis-client.ts", async (load) => ({
  ...(await load<object>()),
  redisClient: () => (server.current as ScheduledRedis).client(),
}));

const numbers = topic<number>("numbers");

/** One iterator: the events that it returned, and how it ended. */
interface Segment {
  /** The events that its own process had begun to publish before. It does not receive them. */
  readonly earlier: ReadonlySet<number>;
  /** The number of events that Redis had accepted when the subscription was settled. */
  settledAt: number;
  readonly got: number[];
  /** The events that its own process has published since, successfully. */
  readonly own: number[];
  isLost: boolean;
}

/** Subscribes, and again after every gap. */
async function follow(
  bus: RedisPubSub,
  segments: Segment[],
  begun: readonly number[],
  accepted: readonly unknown[],
): Promise<void> {
  for (;;) {
    const earlier = new Set(begun);
    const segment: Segment = { earlier, settledAt: Number.POSITIVE_INFINITY, got: [], own: [], isLost: false };
    const iterator = bus.subscribe(numbers)[Symbol.asyncIterator]();
    segments.push(segment);
    void bus.settled().then(() => (segment.settledAt = accepted.length));
    try {
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
        segment.got.push(next.value);
      return;
    } catch (error) {
      if (!(error instanceof PubSubGap)) throw error;
      segment.isLost = true;
    }
  }
}

it("loses no event without a gap, in any order of events, lost connections and new ones", async () => {
  const act = constantFrom("publish here", "publish there", "publish there", "disconnect");
  const run = asyncProperty(schedules(), array(act, { minLength: 2, maxLength: 8 }), async (s, acts) => {
    let isScheduled = true;
    const redis = new ScheduledRedis((label) => (isScheduled ? step(s, label) : Promise.resolve()));
    server.current = redis;
    const [here, there] = [0, 1].map(() => new RedisPubSub("redis://127.0.0.1:1", { timeoutSeconds: 60 })) as [
      RedisPubSub,
      RedisPubSub,
    ];
    const segments: Segment[] = [];
    const begun: number[] = [];
    const following = follow(here, segments, begun, redis.accepted);

    const publish = async (bus: RedisPubSub, n: number): Promise<void> => {
      const segment = segments.at(-1);
      if (bus === here) begun.push(n);
      const isSent = await bus.publish(numbers, n).then(
        () => true,
        () => false,
      );
      if (isSent && bus === here) segment?.own.push(n);
    };
    await s.waitFor(
      Promise.all(
        acts.map(async (kind, n) => {
          await step(s, kind);
          if (kind === "disconnect") await redis.cut();
          else await publish(kind === "publish here" ? here : there, n);
        }),
      ),
    );
    await s.waitIdle();
    isScheduled = false;
    await atRest();

    const accepted = redis.accepted.map((message) => Number(message.split(" ")[1]));
    for (const [index, { earlier, got, own, settledAt, isLost }] of segments.entries()) {
      const wanted = accepted.filter((n) => !earlier.has(n));
      const due = accepted.slice(settledAt).filter((n) => !earlier.has(n));
      const start = got[0] === undefined ? wanted.length - due.length : wanted.indexOf(got[0]);
      deepEqual(got, wanted.slice(start, start + got.length), "a hole");
      ok(start <= wanted.length - due.length, "events were lost at the start");
      equal(isLost, index < segments.length - 1);
      if (isLost) continue;
      equal(start + got.length, wanted.length, "events were lost at the end");
      ok(
        own.every((n) => got.includes(n)),
        "own events were lost",
      );
    }
    await Promise.all([here.close(), there.close(), following]);
    equal(here.topicCount, 0);
  });

  await expect(assert(run, { numRuns: 800 })).resolves.toBeUndefined();
});
