import { type RedisStores, redisStores } from "portico/redis";
import { settings } from "./settings.ts";

/** Sessions, keys, counts and events, shared by all processes of the shop. */
export const stores: RedisStores = redisStores(settings.redisUrl, { prefix: settings.redisPrefix });
