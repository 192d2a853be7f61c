import { PasswordHasher } from "portico/auth";
import { describe, expect, it } from "vitest";
import { HashQueue, HashSlots } from "../../../src/auth/passwords/hash-queue.ts";

describe("a queue that is full", () => {
  it("rejects with 503, and works again when a slot is free", async () => {
    const queue = new HashQueue(1, new HashSlots(1));
    const running: PromiseWithResolvers<string> = Promise.withResolvers();
    const first = queue.run(() => running.promise);
    const second = queue.run(async () => "second");

    await expect(queue.run(async () => "third")).rejects.toMatchObject({
      status: 503,
      message: "Too many passwords are being hashed. Try again later.",
      headers: { "retry-after": "1" },
    });
    running.resolve("first");
    expect([await first, await second]).toEqual(["first", "second"]);
    expect(await queue.run(async () => "fourth")).toBe("fourth");
  });

  it("lets no caller wait if none may", async () => {
    const queue = new HashQueue(0, new HashSlots(2));
    const running: PromiseWithResolvers<void> = Promise.withResolvers();
    const both = [queue.run(() => running.promise), queue.run(() => running.promise)];

    await expect(queue.run(async () => {})).rejects.toMatchObject({ status: 503 });
    running.resolve();
    await Promise.all(both);
  });
});

it("work whose client has disconnected does not start, and its slot is free again", async () => {
  const queue = new HashQueue(0, new HashSlots(1));
  let isStarted = false;
  const work = async (): Promise<void> => void (isStarted = true);

  await expect(queue.run(work, AbortSignal.abort())).rejects.toMatchObject({
    status: 503,
    message: "The request ended before its password was hashed.",
    headers: { "retry-after": "1" },
  });
  expect(isStarted).toBe(false);
  await queue.run(work, new AbortController().signal);
  expect(isStarted).toBe(true);
});

it("work that fails frees its slot", async () => {
  const queue = new HashQueue(0, new HashSlots(1));

  await expect(queue.run(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await queue.run(async () => "next")).toBe("next");
});

it.each([1, null, undefined, ["abcdefgh"]])("%j is not a password", async (value) => {
  await expect(new PasswordHasher().hash(value as never)).rejects.toThrow("The password must be a string");
});
