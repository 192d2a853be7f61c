import { RedisCounter, RedisKeyValue, RedisPubSub } from "portico/redis";
import { afterAll } from "vitest";
import { newPrefix, SHARED_URL } from "../../lab/servers/redis-server.ts";
import { counterContract, keyValueContract, pubSubContract } from "../stores/contract.ts";
import { removeKeys } from "./remove-keys.ts";

const prefix = newPrefix();
const options = { prefix };
afterAll(() => removeKeys(prefix));

keyValueContract("RedisKeyValue", () => {
  const store = new RedisKeyValue(SHARED_URL, options);
  return { store, close: () => store.close() };
});
// Without the fallback, which would keep counting if Redis were down.
counterContract("RedisCounter", () => {
  const counters = new RedisCounter(SHARED_URL, { ...options, insurance: false });
  return { counters, close: () => counters.close() };
});
pubSubContract("RedisPubSub", () => {
  const bus = new RedisPubSub(SHARED_URL, { ...options, maxQueued: 10 });
  return {
    bus,
    lose: async (topic) => {
      for (let n = 0; n < 20; n++) await bus.publish(topic, n);
    },
    close: () => bus.close(),
  };
});
