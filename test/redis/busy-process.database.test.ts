import { RedisKeyValue } from "portico/redis";
import { afterAll, expect, it } from "vitest";
import { newPrefix, SHARED_URL } from "../../lab/servers/redis-server.ts";
import { blockThread } from "../block-thread.ts";
import { removeKeys } from "./remove-keys.ts";

const prefix = newPrefix();
afterAll(() => removeKeys(prefix));

it("accepts a reply that arrived while this process was busy for longer than the timeout", async () => {
  const store = new RedisKeyValue(SHARED_URL, { prefix, timeoutSeconds: 1 });
  await store.set("a", "x");

  const answer = store.get("a");
  // Once the command is on its way.
  await new Promise((resolve) => setImmediate(resolve));
  blockThread(1_200);

  expect(await answer).toBe("x");
  await store.close();
});
