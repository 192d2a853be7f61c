import { resolveOptions, rule } from "../core/resolve-options.ts";
import type { Stores } from "../stores/stores.ts";
import { checkRedisUrl } from "./check-redis-url.ts";
import { RedisCounter, type RedisCounterOptions } from "./redis-counter.ts";
import { RedisKeyValue } from "./redis-key-value.ts";
import { redisCounterRules, redisPubSubRules } from "./redis-options.ts";
import { RedisPubSub, type RedisPubSubOptions } from "./redis-pub-sub.ts";

/** A Redis for each role. */
export interface RedisUrls {
  /** What must not be lost: persistent, and with `maxmemory-policy noeviction`. */
  readonly durable: string;
  readonly counters: string;
  readonly bus: string;
}

/** What the three roles take together. */
export interface RedisStoresOptions extends RedisCounterOptions, RedisPubSubOptions {}

/** The three roles on Redis. */
export interface RedisStores extends Stores {
  readonly durable: RedisKeyValue;
  readonly counters: RedisCounter;
  readonly bus: RedisPubSub;
  /** Closes all three. An application does so at its end; a script, which has none, calls it, or it does not end. */
  close(): Promise<void>;
}

/**
 * The three roles on one Redis, or on one each. Connects when the application starts, or with the first call, over one
 * connection for each role; the application closes them at its end.
 *
 * While Redis does not answer, nothing waits for it: calls reject with `PorticoError`, code `STORE_UNAVAILABLE`, which is
 * a 503, and each process counts limits for itself. It is in use again within a second of its return. A wrong address or option throws
 * `ConfigurationError`.
 *
 * @example
 * ```ts
 * import { env, PorticoApp } from "portico";
 * import { redisStores } from "portico/redis";
 *
 * new PorticoApp({ stores: redisStores(env("REDIS_URL")) });
 * ```
 */
export function redisStores(urls: string | RedisUrls, options: RedisStoresOptions = {}): RedisStores {
  const { durable, counters, bus } = readUrls(urls);
  const { insurance, maxQueued, ...shared } = resolveOptions("redisStores", options, {
    ...redisCounterRules,
    ...redisPubSubRules,
  });
  const stores = {
    durable: new RedisKeyValue(durable, shared),
    counters: new RedisCounter(counters, { ...shared, insurance }),
    bus: new RedisPubSub(bus, { ...shared, maxQueued }),
  };
  const close = async (): Promise<void> => {
    await Promise.all(Object.values(stores).map((store) => store.close()));
  };
  return { ...stores, close };
}

const ROLES = ["durable", "counters", "bus"] as const;

function readUrls(given: string | RedisUrls): RedisUrls {
  if (typeof given === "string") {
    checkRedisUrl("redisStores.url", given);
    return { durable: given, counters: given, bus: given };
  }
  // As options, so that an unknown role is named; the addresses by a check that does not repeat them.
  const urls = resolveOptions("redisStores", given, { durable: anything, counters: anything, bus: anything });
  for (const role of ROLES) checkRedisUrl(`redisStores.${role}`, urls[role]);
  return urls as RedisUrls;
}

const anything = rule<unknown>("an address", () => true);
