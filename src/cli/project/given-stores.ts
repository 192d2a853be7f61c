import type { Database } from "../../sql/database/database.ts";
import type { Stores } from "../../stores/stores.ts";
import { UsageError } from "../command-failed.ts";
import type { Surroundings } from "../surroundings.ts";
import type { GlobalOptions } from "./global-options.ts";

/** Where the sessions and API keys are, without an application that says it. A guess could act on the wrong store. */
export function namedStores(options: GlobalOptions, env: Surroundings["env"]): "database" | "redis" {
  const { stores } = options;
  const hasRedis = redisUrl(options, env) !== null;
  if (stores !== undefined && stores !== "database" && stores !== "redis")
    throw new UsageError('--stores must be "database" or "redis"');
  if (stores === "redis" && !hasRedis) throw new UsageError("--stores redis requires --redis <url> or REDIS_URL");
  if (stores === undefined && !hasRedis)
    throw new UsageError(
      "no store for sessions and API keys: create portico.config.ts, pass --redis <url> or set REDIS_URL if the application uses redisStores, or pass --stores database if it uses sqlStores",
    );
  return stores ?? "redis";
}

/** The stores of Redis if it is named, or those of the database. */
export async function givenStores(
  options: GlobalOptions,
  env: Surroundings["env"],
  database: () => Promise<Database>,
): Promise<Stores> {
  const redis = redisUrl(options, env);
  if (redis === null) return (await import("../../sql/stores/sql-stores.ts")).sqlStores(await database());
  const prefix = options.redisPrefix ?? env["REDIS_PREFIX"];
  const { redisStores } = await import("../../redis/redis-stores.ts");
  return redisStores(redis, prefix === undefined || prefix === "" ? {} : { prefix });
}

function redisUrl(options: GlobalOptions, env: Surroundings["env"]): string | null {
  const url = options.redis ?? env["REDIS_URL"];
  return url === undefined || url === "" || options.stores === "database" ? null : url;
}
