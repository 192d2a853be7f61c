import { type RedisStores, redisStores } from "portico/redis";
import { settings } from "./settings.ts";

/** Sessions, keys, counts and events, which all processes of the shop share. */
export const stores: RedisStores = redisStores(settings.redisUrl, { prefix: settings.redisPrefix });
