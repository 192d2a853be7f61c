import { anything, resolveOptions } from "../core/resolve-options.ts";
import type { Stores } from "../stores/stores.ts";
import { checkRedisAddress, isAddressObject, type RedisAddress } from "./redis-address.ts";
import { RedisCounter, type RedisCounterOptions } from "./redis-counter.ts";
import { RedisKeyValue } from "./redis-key-value.ts";
import { redisCounterRules, redisPubSubRules } from "./redis-options.ts";
import { RedisPubSub, type RedisPubSubOptions } from "./redis-pub-sub.ts";

/** A Redis for each role. */
export interface RedisAddresses {
  /** For data that must not be lost: persistent, with `maxmemory-policy noeviction`. */
  readonly durable: RedisAddress;
  readonly counters: RedisAddress;
  readonly bus: RedisAddress;
}

/** The options of all three roles. */
export interface RedisStoresOptions extends RedisCounterOptions, RedisPubSubOptions {}

/** The stores of the three roles on Redis. */
export interface RedisStores extends Stores {
  readonly durable: RedisKeyValue;
  readonly counters: RedisCounter;
  readonly bus: RedisPubSub;
  /**
   * Closes all three. An application does so on shutdown. A script without an application must call it, or its process
   * does not end.
   */
  close(): Promise<void>;
}

/**
 * Returns the three roles on one Redis, or on one each: a server, a cluster, or a primary behind Sentinel. It connects when
 * the application starts, or with the first call, with one connection per role and server. The application closes them on shutdown.
 *
 * While Redis does not respond, nothing waits for it: calls reject with a `PorticoError` with code `STORE_UNAVAILABLE`,
 * which is a 503, and each process counts rate limits on its own. Redis is in use again within a second of its return.
 * A wrong URL or option throws `ConfigurationError`.
 *
 * @example
 * ```ts
 * import { env, PorticoApp } from "portico";
 * import { redisStores } from "portico/redis";
 *
 * new PorticoApp({ stores: redisStores(env("REDIS_URL")) });
 * ```
 */
export function redisStores(address: RedisAddress | RedisAddresses, options: RedisStoresOptions = {}): RedisStores {
  const { durable, counters, bus } = readAddresses(address);
  const { insurance, maxQueued, tls, ...others } = resolveOptions("redisStores", options, {
    ...redisCounterRules,
    ...redisPubSubRules,
  });
  const shared = tls === undefined ? others : { ...others, tls };
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

function readAddresses(given: RedisAddress | RedisAddresses): RedisAddresses {
  if (typeof given === "string" || isAddressObject(given)) {
    checkRedisAddress("redisStores.address", given);
    return { durable: given, counters: given, bus: given };
  }
  // The roles are checked as options, so that the error names an unknown role, and the addresses by a check that does not
  // repeat them.
  const addresses = resolveOptions("redisStores", given, { durable: anything, counters: anything, bus: anything });
  for (const role of ROLES) checkRedisAddress(`redisStores.${role}`, addresses[role]);
  return addresses as RedisAddresses;
}
