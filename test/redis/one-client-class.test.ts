import { RedisKeyValue } from "portico/redis";
import { RedisClient } from "redis";
import { expect, it, onTestFinished, vi } from "vitest";

it("makes the class of clients at most once, however many servers refuse connections", async () => {
  const factory = vi.spyOn(RedisClient, "factory");
  onTestFinished(() => factory.mockRestore());
  const stores = [1, 2, 3].map((port) => new RedisKeyValue(`redis://127.0.0.1:${port}`));
  onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))));

  for (const store of stores) await expect(store.get("a")).rejects.toThrow("does not respond");

  expect(factory.mock.calls.length).toBeLessThanOrEqual(1);
});
