import { ConfigurationError } from "../core/configuration-error.ts";
import type { Logger } from "../core/logger.ts";
import { resolveOptions } from "../core/resolve-options.ts";
import { checkTtl, type KeyValueStore } from "../stores/key-value-store.ts";
import { storeKey } from "../stores/store-key.ts";
import { linkToRedis } from "./link-to-redis.ts";
import { checkRedisAddress, type RedisAddress } from "./redis-address.ts";
import { storeFailure } from "./redis-connection.ts";
import type { RedisLink } from "./redis-link.ts";
import { type RedisOptions, redisRules } from "./redis-options.ts";
import { RedisScript } from "./redis-script.ts";
import { ReplicaConfirmation } from "./replica-confirmation.ts";

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
  readonly #link: RedisLink;
  readonly #prefix: string;
  readonly #confirmation = new ReplicaConfirmation();

  constructor(address: RedisAddress, options: RedisOptions = {}) {
    checkRedisAddress("RedisKeyValue.address", address);
    const { prefix, timeoutSeconds, tls } = resolveOptions("RedisKeyValue", options, redisRules);
    this.#link = linkToRedis(address, {
      role: "durable",
      tls,
      timeoutMs: timeoutSeconds * 1000,
      meanwhile: "reads and writes fail with STORE_UNAVAILABLE",
      onBeat: (client) => void this.#confirmation.note(client).catch(() => {}),
    });
    this.#prefix = prefix;
  }

  get isConnected(): boolean {
    return this.#link.isReady();
  }

  async start(log: Logger): Promise<void> {
    await this.#link.start(log);
    const servers = await this.#link.servers();
    const warnings = await Promise.all(
      servers.map((server) => server.run("", (client) => this.#confirmation.warning(client)).catch(() => null)),
    );
    for (const warning of new Set(warnings)) if (warning !== null) log.warn({}, warning);
    const policies = await Promise.all(servers.map(evictionPolicy));
    if (policies.includes(null)) log.warn({}, "redis: could not read maxmemory-policy for the durable store");
    const policy = policies.find((name) => name !== null && name !== "noeviction");
    if (policy === undefined) return;
    throw new ConfigurationError(
      "PorticoApp.stores.durable",
      `is a Redis with maxmemory-policy ${policy}, which evicts keys, including sessions, when memory is full: ` +
        "set the policy to noeviction, or use a separate Redis for this role",
    );
  }

  /** The check writes, because a Redis that is full or has become a replica still responds to everything else. */
  async check(): Promise<void> {
    const key = `${this.#prefix}:check`;
    await Promise.all([this.#link.check(), this.#link.send(key, ["SET", key, "1", "PX", "1000"])]);
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  async get(key: string): Promise<string | null> {
    return (await this.#send(key, "GET")) as string | null;
  }

  async set(key: string, value: string, ttlMs?: number): Promise<void> {
    checkTtl(ttlMs);
    await this.#send(key, "SET", value, ...expiry(ttlMs));
  }

  async setIfAbsent(key: string, value: string, ttlMs?: number): Promise<boolean> {
    checkTtl(ttlMs);
    return (await this.#send(key, "SET", value, "NX", ...expiry(ttlMs))) !== null;
  }

  async compareAndSet(key: string, expected: string | null, value: string, ttlMs?: number): Promise<boolean> {
    if (expected === null) return this.setIfAbsent(key, value, ttlMs);
    checkTtl(ttlMs);
    return (await compareAndSet.run(this.#link, this.#key(key), [expected, value, String(ttlMs ?? "")])) === 1;
  }

  async delete(key: string): Promise<boolean> {
    return (await this.#send(key, "DEL")) === 1;
  }

  /**
   * Waits until a replica has everything that was written so far. Rejects if none has it within half a second, unless this
   * server has not had a replica since this process connected.
   */
  async confirm(key: string): Promise<void> {
    const mark = `${this.#key(key)}:confirmed`;
    if (await this.#link.run(mark, (client) => this.#confirmation.confirm(client, mark))) return;
    throw storeFailure("durable", new Error("no replica has confirmed the write"), false);
  }

  /** In a cluster, always the clock of the same primary. */
  async time(): Promise<number> {
    const [seconds, microseconds] = (await this.#link.send(this.#prefix, ["TIME"])) as readonly [string, string];
    return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
  }

  #send(name: string, command: string, ...args: readonly string[]): Promise<unknown> {
    const key = this.#key(name);
    return this.#link.send(key, [command, key, ...args]);
  }

  /** In a cluster, the part in braces decides on which node a key is stored. */
  #key(key: string): string {
    return `${this.#prefix}:durable:{${storeKey(key)}}`;
  }
}

/** Reads INFO, because hosted servers reject CONFIG. Returns `null` if INFO is rejected as well. */
async function evictionPolicy(server: RedisLink): Promise<string | null> {
  try {
    const info = String(await server.send("", ["INFO", "memory"]));
    return /^maxmemory_policy:(?<policy>[\w-]+)/m.exec(info)?.groups?.["policy"] ?? null;
  } catch {
    return null;
  }
}

function expiry(ttlMs: number | undefined): readonly string[] {
  return ttlMs === undefined ? [] : ["PX", String(ttlMs)];
}
