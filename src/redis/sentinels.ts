import { inBackground } from "../core/work/in-background.ts";
import { withTimeout } from "../core/work/with-timeout.ts";
import { atHost, type RedisSentinelAddress } from "./redis-address.ts";
import { type RedisClient, type RedisClientOptions, redisClient } from "./redis-client.ts";

/** The Sentinels of a primary, each with its own connection, which is opened again when it is needed after a loss. */
export class Sentinels {
  readonly #address: RedisSentinelAddress;
  readonly #options: RedisClientOptions;
  readonly #clients = new Map<string, Promise<RedisClient>>();

  constructor(address: RedisSentinelAddress, options: RedisClientOptions) {
    this.#address = address;
    this.#options = options;
  }

  /**
   * The URL of the primary that most Sentinels name. A Sentinel that was separated from the others may still name the old one,
   * so more than half of them have to agree. Rejects if they do not.
   */
  locate(): Promise<string> {
    const { sentinels } = this.#address;
    const votes = new Map<string, number>();
    return new Promise((resolve, reject) => {
      const asked = sentinels.map(async (url) => {
        const primary = await this.#ask(url);
        const count = (votes.get(primary) ?? 0) + 1;
        votes.set(primary, count);
        if (count > sentinels.length / 2) resolve(primary);
      });
      inBackground(
        Promise.allSettled(asked).then((outcomes) => {
          const failed = outcomes.find((outcome) => outcome.status === "rejected");
          reject(new Error("no primary that more than half of the Sentinels agree on", { cause: failed?.reason }));
        }),
      );
    });
  }

  async close(): Promise<void> {
    const clients = [...this.#clients.values()];
    this.#clients.clear();
    for (const client of clients) void client.then((open) => open.destroy()).catch(() => {});
  }

  async #ask(url: string): Promise<string> {
    const { primary } = this.#address;
    const name = decodeURIComponent(new URL(primary).hostname);
    const { timeoutMs } = this.#options;
    try {
      const client = await this.#client(url);
      const answer = await withTimeout(timeoutMs, client.sendCommand(["SENTINEL", "GET-MASTER-ADDR-BY-NAME", name]));
      if (!Array.isArray(answer)) throw new Error(`the Sentinel knows no primary called "${name}"`);
      return atHost(primary, String(answer[0]), Number(answer[1]));
    } catch (error) {
      await this.#forget(url);
      throw error;
    }
  }

  #client(url: string): Promise<RedisClient> {
    const present = this.#clients.get(url);
    if (present !== undefined) return present;
    const connecting = this.#connect(url);
    this.#clients.set(url, connecting);
    return connecting;
  }

  async #connect(url: string): Promise<RedisClient> {
    const client = redisClient(url, this.#options);
    client.on("error", () => inBackground(this.#forget(url)));
    try {
      await withTimeout(this.#options.timeoutMs, client.connect());
      return client;
    } catch (error) {
      client.destroy();
      throw error;
    }
  }

  async #forget(url: string): Promise<void> {
    const client = this.#clients.get(url);
    this.#clients.delete(url);
    await client?.then((open) => open.destroy()).catch(() => {});
  }
}
