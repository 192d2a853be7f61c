import RateLimiterRedis from "rate-limiter-flexible/lib/RateLimiterRedis.js";
import type { Logger } from "../core/logger.ts";
import { resolveOptions } from "../core/resolve-options.ts";
import { type Count, type CounterStore, checkWindow } from "../stores/counter-store.ts";
import { MemoryCounter } from "../stores/memory-counter.ts";
import { storeKey } from "../stores/store-key.ts";
import { checkRedisUrl } from "./check-redis-url.ts";
import { RedisConnection } from "./redis-connection.ts";
import { type RedisOptions, redisCounterRules } from "./redis-options.ts";
import { RedisScript } from "./redis-script.ts";

export interface RedisCounterOptions extends RedisOptions {
  /** Whether this process counts for itself while Redis does not answer; else `increment` rejects. @default true */
  readonly insurance?: boolean;
}

/** Counts, and lets the window begin with the first hit. In milliseconds: the script of the limiter knows seconds only. */
const COUNT = `
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return { count, left }
`;
const count = new RedisScript(COUNT);

/**
 * The counters on Redis: processes count together.
 *
 * While Redis does not answer, each process counts for itself, so that a limit holds per process instead of not at all;
 * what was counted there is not carried over when Redis is back.
 *
 * @example
 * ```ts
 * import { memoryStores, PorticoApp, rateLimit } from "portico";
 * import { RedisCounter } from "portico/redis";
 *
 * const app = new PorticoApp({ stores: { ...memoryStores(), counters: new RedisCounter("redis://127.0.0.1:6379") } });
 * app.post("/orders", { middleware: [rateLimit({ perMinute: 30, name: "orders" })] }, () => "ordered");
 * ```
 */
export class RedisCounter implements CounterStore {
  readonly #connection: RedisConnection;
  readonly #limiter: RateLimiterRedis;
  readonly #insurance: MemoryCounter | null;
  readonly #prefix: string;

  constructor(url: string, options: RedisCounterOptions = {}) {
    checkRedisUrl("RedisCounter.url", url);
    const { prefix, timeoutSeconds, insurance } = resolveOptions("RedisCounter", options, redisCounterRules);
    this.#connection = new RedisConnection({
      role: "counters",
      url,
      timeoutMs: timeoutSeconds * 1000,
      meanwhile: insurance ? "this process counts for itself" : "counting fails with STORE_UNAVAILABLE",
    });
    this.#insurance = insurance ? new MemoryCounter() : null;
    this.#prefix = prefix;
    this.#limiter = new RateLimiterRedis({
      storeClient: {
        eval: (_: string, call: Call) => count.run(this.#connection, String(call.keys[0]), call.arguments),
      },
      useRedisPackage: true,
      customIncrTtlLuaScript: COUNT,
      points: Number.MAX_SAFE_INTEGER,
      duration: 1,
      keyPrefix: "",
    });
  }

  /** With the insurance, an application starts without its counters. */
  async start(log: Logger): Promise<void> {
    if (this.#insurance === null) await this.#connection.start(log);
    else this.#connection.open(log);
  }

  async check(): Promise<void> {
    if (this.#insurance === null) await this.#connection.check();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async increment(key: string, windowMs: number): Promise<Count> {
    checkWindow(windowMs);
    try {
      return await this.#count(key, windowMs);
    } catch (error) {
      if (this.#insurance === null) throw error;
      return this.#insurance.increment(key, windowMs);
    }
  }

  async reset(key: string, windowMs: number): Promise<void> {
    checkWindow(windowMs);
    await this.#insurance?.reset(key, windowMs);
    try {
      await this.#connection.send(["DEL", this.#key(key, windowMs)]);
    } catch (error) {
      if (this.#insurance === null) throw error;
    }
  }

  async resetAll(): Promise<void> {
    await this.#insurance?.resetAll();
    // What has a meaning in a pattern stands for itself in the prefix.
    const pattern = `${this.#prefix.replace(/[\\*?[\]]/g, "\\$&")}:counters:*`;
    let cursor = "0";
    do {
      const answer = await this.#connection.send(["SCAN", cursor, "MATCH", pattern, "COUNT", "1000"]);
      const [next, keys] = answer as readonly [string, readonly string[]];
      // One by one: in a cluster, a command has the keys of one place.
      await Promise.all(keys.map((key) => this.#connection.send(["DEL", key])));
      cursor = next;
    } while (cursor !== "0");
  }

  async #count(key: string, windowMs: number): Promise<Count> {
    // What the limiter takes for seconds are milliseconds to the script.
    const options = { customDuration: windowMs };
    const { consumedPoints, msBeforeNext } = await this.#limiter.penalty(this.#key(key, windowMs), 1, options);
    return { value: consumedPoints, resetAfterMs: msBeforeNext };
  }

  /** In a cluster, what is in braces says where a key lives. */
  #key(key: string, windowMs: number): string {
    return `${this.#prefix}:counters:{${storeKey(key)}}:${windowMs}`;
  }
}

/** How the limiter calls a script. */
interface Call {
  readonly keys: readonly string[];
  readonly arguments: readonly string[];
}
