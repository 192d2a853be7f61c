export type { RedisAddress, RedisClusterAddress, RedisSentinelAddress } from "./redis-address.ts";
export { RedisCounter, type RedisCounterOptions } from "./redis-counter.ts";
export { RedisKeyValue } from "./redis-key-value.ts";
export type { RedisOptions } from "./redis-options.ts";
export { RedisPubSub, type RedisPubSubOptions } from "./redis-pub-sub.ts";
export { type RedisAddresses, type RedisStores, type RedisStoresOptions, redisStores } from "./redis-stores.ts";
