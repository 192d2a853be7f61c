import { expect, it, vi } from "vitest";

it.each([
  ["8", 4],
  ["3", 1],
  ["1", 1],
  ["nonsense", 1],
  ["", 1],
])("with UV_THREADPOOL_SIZE %j at most %i hash at once", async (threads, most) => {
  vi.stubEnv("UV_THREADPOOL_SIZE", threads);
  vi.resetModules();
  const anew = await import("../../../src/auth/passwords/hash-queue.ts");
  const queue = new anew.HashQueue(100);
  let [running, highest] = [0, 0];

  const work = async (): Promise<void> => {
    highest = Math.max(highest, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
  };
  await Promise.all(Array.from({ length: 12 }, () => queue.run(work)));

  expect(highest).toBe(most);
  vi.unstubAllEnvs();
});
