import { type RedisAddress, redisHost } from "./redis-address.ts";
import { RedisCluster } from "./redis-cluster.ts";
import { RedisConnection } from "./redis-connection.ts";
import type { RedisLink, RedisLinkOptions } from "./redis-link.ts";
import { Sentinels } from "./sentinels.ts";

/** Returns the link to a Redis server, cluster or Sentinel primary. It is not connected yet. */
export function linkToRedis(address: RedisAddress, options: RedisLinkOptions): RedisLink {
  if (typeof address !== "string" && "cluster" in address) return new RedisCluster(address, options);
  const location = typeof address === "string" ? { locate: async () => address } : new Sentinels(address, options);
  return new RedisConnection(location, { ...options, host: redisHost(address) });
}
