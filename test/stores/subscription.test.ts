import { expect, it, vi } from "vitest";
import { PubSubGap } from "../../src/stores/pub-sub.ts";
import { Subscription } from "../../src/stores/subscription.ts";

it("throws the gap to the first next() that waits and ends the others, with the cause kept", async () => {
  const onClose = vi.fn<() => void>();
  const subscription = new Subscription<number>({ topic: "prices", maxQueued: 10, signal: undefined, onClose });
  const waiting = [subscription.next(), subscription.next()];
  const cause = new Error("ECONNRESET");

  subscription.lose("the bus was away", { cause });

  const [first, second] = await Promise.allSettled(waiting);
  expect(first).toEqual({ status: "rejected", reason: expect.any(PubSubGap) });
  expect((first as PromiseRejectedResult).reason).toMatchObject({
    message: "events of prices may have been lost: the bus was away",
    cause,
  });
  expect(second).toEqual({ status: "fulfilled", value: { done: true, value: undefined } });
  expect(await subscription.next()).toEqual({ done: true, value: undefined });
  expect(onClose).toHaveBeenCalledOnce();
});

it("takes nothing more once it is closed", async () => {
  const onClose = vi.fn<() => void>();
  const subscription = new Subscription<number>({ topic: "prices", maxQueued: 10, signal: undefined, onClose });
  await subscription.return();

  subscription.deliver("1");
  subscription.lose("the bus was away");
  await subscription.return();

  expect(subscription.isOpen).toBe(false);
  expect(await subscription.next()).toEqual({ done: true, value: undefined });
  expect(onClose).toHaveBeenCalledOnce();
});
