import { ConfigurationError } from "../core/configuration-error.ts";
import type { Logger } from "../core/logger.ts";
import { resolveOptions } from "../core/resolve-options.ts";
import { checkTtl, type KeyValueStore } from "../stores/key-value-store.ts";
import { storeKey } from "../stores/store-key.ts";
import { checkRedisUrl } from "./check-redis-url.ts";
import { RedisConnection } from "./redis-connection.ts";
import { type RedisOptions, redisRules } from "./redis-options.ts";
import { RedisScript } from "./redis-script.ts";

/** Writes if the current value is the expected one. */
const compareAndSet = new RedisScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[3] == '' then redis.call('SET', KEYS[1], ARGV[2]) else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1
`);

/**
 * The durable role on Redis. Every method is one command, so it is atomic between processes.
 *
 * An application does not start on a Redis that evicts keys when its memory is full: `start` rejects with
 * `ConfigurationError` unless `maxmemory-policy` is `noeviction`. A Redis without persistence loses its data when it
 * stops; that is not checked.
 *
 * @example
 * ```ts
 * import { memoryStores, PorticoApp } from "portico";
 * import { RedisKeyValue } from "portico/redis";
 *
 * new PorticoApp({ stores: { ...memoryStores(), durable: new RedisKeyValue("redis://127.0.0.1:6379") } });
 * ```
 */
export class RedisKeyValue implements KeyValueStore {
  readonly #connection: RedisConnection;
  readonly #prefix: string;

  constructor(url: string, options: RedisOptions = {}) {
    checkRedisUrl("RedisKeyValue.url", url);
    const { prefix, timeoutSeconds } = resolveOptions("RedisKeyValue", options, redisRules);
    this.#connection = new RedisConnection({
      role: "durable",
      url,
      timeoutMs: timeoutSeconds * 1000,
      meanwhile: "reads and writes fail with STORE_UNAVAILABLE",
    });
    this.#prefix = prefix;
  }

  async start(log: Logger): Promise<void> {
    await this.#connection.start(log);
    const policy = await this.#evictionPolicy();
    if (policy === null) log.warn({}, "redis: could not read maxmemory-policy for the durable store");
    if (policy === null || policy === "noeviction") return;
    throw new ConfigurationError(
      "PorticoApp.stores.durable",
      `is a Redis with maxmemory-policy ${policy}, which evicts keys, including sessions, when memory is full: ` +
        "set the policy to noeviction, or use a separate Redis for this role",
    );
  }

  /** The check writes, because a Redis that is full or has become a replica still responds to everything else. */
  async check(): Promise<void> {
    await this.#connection.send(["SET", `${this.#prefix}:check`, "1", "PX", "1000"]);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async get(key: string): Promise<string | null> {
    return (await this.#connection.send(["GET", this.#key(key)])) as string | null;
  }

  async set(key: string, value: string, ttlMs?: number): Promise<void> {
    checkTtl(ttlMs);
    await this.#connection.send(["SET", this.#key(key), value, ...expiry(ttlMs)]);
  }

  async setIfAbsent(key: string, value: string, ttlMs?: number): Promise<boolean> {
    checkTtl(ttlMs);
    return (await this.#connection.send(["SET", this.#key(key), value, "NX", ...expiry(ttlMs)])) !== null;
  }

  async compareAndSet(key: string, expected: string | null, value: string, ttlMs?: number): Promise<boolean> {
    if (expected === null) return this.setIfAbsent(key, value, ttlMs);
    checkTtl(ttlMs);
    return (await compareAndSet.run(this.#connection, this.#key(key), [expected, value, String(ttlMs ?? "")])) === 1;
  }

  async delete(key: string): Promise<boolean> {
    return (await this.#connection.send(["DEL", this.#key(key)])) === 1;
  }

  async time(): Promise<number> {
    const [seconds, microseconds] = (await this.#connection.send(["TIME"])) as readonly [string, string];
    return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
  }

  /** In a cluster, the part in braces decides on which node a key is stored. */
  #key(key: string): string {
    return `${this.#prefix}:durable:{${storeKey(key)}}`;
  }

  /** Reads INFO, because hosted servers reject CONFIG. Returns `null` if INFO is rejected as well. */
  async #evictionPolicy(): Promise<string | null> {
    try {
      const info = String(await this.#connection.send(["INFO", "memory"]));
      return /^maxmemory_policy:(?<policy>[\w-]+)/m.exec(info)?.groups?.["policy"] ?? null;
    } catch {
      return null;
    }
  }
}

function expiry(ttlMs: number | undefined): readonly string[] {
  return ttlMs === undefined ? [] : ["PX", String(ttlMs)];
}
