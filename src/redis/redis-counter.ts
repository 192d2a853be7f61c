// oxlint-disable-next-line typescript/triple-slash-reference -- an ambient declaration has nothing to import
/// <reference path="../stores/rate-limiter-flexible.d.ts" />
import RateLimiterRedis from "rate-limiter-flexible/lib/RateLimiterRedis.js";
import type { Logger } from "../core/logger.ts";
import { resolveOptions } from "../core/resolve-options.ts";
import {
  type Count,
  type CounterStore,
  checkReservation,
  checkWindow,
  type Reservation,
} from "../stores/counter-store.ts";
import { MemoryCounter } from "../stores/memory-counter.ts";
import { storeKey } from "../stores/store-key.ts";
import { linkToRedis } from "./link-to-redis.ts";
import { checkRedisAddress, type RedisAddress } from "./redis-address.ts";
import type { RedisLink } from "./redis-link.ts";
import { type RedisOptions, redisCounterRules } from "./redis-options.ts";
import { RedisScript } from "./redis-script.ts";

export interface RedisCounterOptions extends RedisOptions {
  /**
   * Whether this process counts on its own while Redis does not respond. If `false`, `increment` rejects instead.
   * @default true
   */
  readonly insurance?: boolean;
}

/**
 * Counts a hit. The first one starts the window. The script uses milliseconds, because the limiter's own script only
 * knows seconds.
 */
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

/** The end of the window is on the server's clock, in milliseconds. */
const ENDS_AT = `
local function ends_at(left)
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000) + left
end
`;

/** Counts the units if the limit allows it. */
const reserve = new RedisScript(`${ENDS_AT}
local units, window, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local count = tonumber(redis.call('GET', KEYS[1]) or 0)
local left = redis.call('PTTL', KEYS[1])
if count + units > limit then
  if left < 0 then left = window end
  return { 0, count, left, 0 }
end
count = redis.call('INCRBY', KEYS[1], units)
if left < 0 then
  left = window
  redis.call('PEXPIRE', KEYS[1], window)
end
return { 1, count, left, ends_at(left) }
`);

/**
 * Takes back units in the window that ends at the given time. A later window of the key ends at least a window later, and
 * rounding makes a difference of a few milliseconds.
 */
const refund = new RedisScript(`${ENDS_AT}
local units, window, ends = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local left = redis.call('PTTL', KEYS[1])
if left < 0 or math.abs(ends_at(left) - ends) > window / 2 then return 0 end
return redis.call('DECRBY', KEYS[1], math.min(units, tonumber(redis.call('GET', KEYS[1]))))
`);

/**
 * Counters in Redis, shared by all processes.
 *
 * While Redis does not respond, each process counts on its own, so that a limit holds per process instead of not at
 * all. Those counts are not carried over when Redis is back.
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
  readonly #link: RedisLink;
  readonly #limiter: RateLimiterRedis;
  readonly #insurance: MemoryCounter | null;
  readonly #prefix: string;

  constructor(address: RedisAddress, options: RedisCounterOptions = {}) {
    checkRedisAddress("RedisCounter.address", address);
    const { prefix, timeoutSeconds, tls, insurance } = resolveOptions("RedisCounter", options, redisCounterRules);
    this.#link = linkToRedis(address, {
      role: "counters",
      tls,
      timeoutMs: timeoutSeconds * 1000,
      meanwhile: insurance ? "falling back to in-process counting" : "counting fails with STORE_UNAVAILABLE",
    });
    this.#insurance = insurance ? new MemoryCounter() : null;
    this.#prefix = prefix;
    this.#limiter = new RateLimiterRedis({
      storeClient: {
        eval: (_: string, call: Call) => count.run(this.#link, String(call.keys[0]), call.arguments),
      },
      useRedisPackage: true,
      customIncrTtlLuaScript: COUNT,
      points: Number.MAX_SAFE_INTEGER,
      duration: 1,
      keyPrefix: "",
    });
  }

  get isConnected(): boolean {
    return this.#link.isReady();
  }

  /** With the in-process fallback, an application starts even if Redis is down. */
  async start(log: Logger): Promise<void> {
    if (this.#insurance === null) await this.#link.start(log);
    else this.#link.open(log);
  }

  async check(): Promise<void> {
    if (this.#insurance === null) await this.#link.check();
  }

  close(): Promise<void> {
    return this.#link.close();
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

  async reserve(key: string, windowMs: number, units: number, limit: number): Promise<Reservation> {
    checkReservation(windowMs, units, limit);
    try {
      return await this.#reserve(this.#key(key, windowMs), windowMs, units, limit);
    } catch (error) {
      if (this.#insurance === null) throw error;
      return this.#insurance.reserve(key, windowMs, units, limit);
    }
  }

  async reset(key: string, windowMs: number): Promise<void> {
    checkWindow(windowMs);
    await this.#insurance?.reset(key, windowMs);
    try {
      const counter = this.#key(key, windowMs);
      await this.#link.send(counter, ["DEL", counter]);
    } catch (error) {
      if (this.#insurance === null) throw error;
    }
  }

  async resetAll(): Promise<void> {
    await this.#insurance?.resetAll();
    // Escapes the characters of the prefix that have a meaning in a pattern.
    const pattern = `${this.#prefix.replace(/[\\*?[\]]/g, "\\$&")}:counters:*`;
    for (const server of await this.#link.servers()) {
      let cursor = "0";
      do {
        const answer = await server.send("", ["SCAN", cursor, "MATCH", pattern, "COUNT", "1000"]);
        const [next, keys] = answer as readonly [string, readonly string[]];
        // One command per key, because in a cluster all keys of a command must be in one slot.
        await Promise.all(keys.map((key) => this.#link.send(key, ["DEL", key])));
        cursor = next;
      } while (cursor !== "0");
    }
  }

  async #count(key: string, windowMs: number): Promise<Count> {
    // The limiter passes seconds, which the script reads as milliseconds.
    const options = { customDuration: windowMs };
    const { consumedPoints, msBeforeNext } = await this.#limiter.penalty(this.#key(key, windowMs), 1, options);
    return { value: consumedPoints, resetAfterMs: msBeforeNext };
  }

  async #reserve(counter: string, windowMs: number, units: number, limit: number): Promise<Reservation> {
    const answer = await reserve.run(this.#link, counter, [String(units), String(windowMs), String(limit)]);
    const [granted, value, resetAfterMs, endsAt] = answer as readonly [number, number, number, number];
    const isGranted = granted === 1;
    return {
      value,
      resetAfterMs,
      isGranted,
      refund: async (returned) => {
        const args = [String(returned), String(windowMs), String(endsAt)];
        if (isGranted) await refund.run(this.#link, counter, args);
      },
    };
  }

  /** In a cluster, the part in braces decides on which node a key is stored. */
  #key(key: string, windowMs: number): string {
    return `${this.#prefix}:counters:{${storeKey(key)}}:${windowMs}`;
  }
}

/** The signature with which the limiter calls a script. */
interface Call {
  readonly keys: readonly string[];
  readonly arguments: readonly string[];
}
