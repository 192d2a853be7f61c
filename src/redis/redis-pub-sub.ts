import { resolveOptions } from "../core/resolve-options.ts";
import type { BusLink } from "../stores/bus-link.ts";
import { ServerPubSub } from "../stores/server-pub-sub.ts";
import { linkToRedis } from "./link-to-redis.ts";
import { checkRedisAddress, type RedisAddress } from "./redis-address.ts";
import type { RedisLink } from "./redis-link.ts";
import { type RedisOptions, redisPubSubRules } from "./redis-options.ts";

export interface RedisPubSubOptions extends RedisOptions {
  /** How many events may wait for one subscriber. One more ends its subscription with `PubSubGap`. @default 1_000 */
  readonly maxQueued?: number;
}

/**
 * The bus on Redis: an event reaches the subscribers in all processes.
 *
 * A process subscribes to a topic once, however many subscribers it has, and receives each event once. Events of a
 * topic arrive in the order in which Redis received them. After a lost connection, each subscription ends with
 * `PubSubGap` as soon as there is a new connection, including subscriptions made in between. Until then, `publish`
 * rejects.
 *
 * @example
 * ```ts
 * import { topic } from "portico";
 * import { RedisPubSub } from "portico/redis";
 *
 * const bus = new RedisPubSub("redis://127.0.0.1:6379");
 * const orderPlaced = topic<{ id: string }>("orders.placed");
 *
 * for await (const { id } of bus.subscribe(orderPlaced)) console.log(id);
 * ```
 */
export class RedisPubSub extends ServerPubSub {
  constructor(address: RedisAddress, options: RedisPubSubOptions = {}) {
    checkRedisAddress("RedisPubSub.address", address);
    const { prefix, timeoutSeconds, tls, maxQueued } = resolveOptions("RedisPubSub", options, redisPubSubRules);
    super({
      link: (events) =>
        busLink(
          linkToRedis(address, {
            ...events,
            role: "bus",
            tls,
            timeoutMs: timeoutSeconds * 1000,
            meanwhile: "events are neither sent nor received",
          }),
        ),
      channelName: (topic) => `${prefix}:bus:${topic}`,
      maxQueued,
    });
  }
}

function busLink(link: RedisLink): BusLink {
  return {
    server: "Redis",
    isReady: (channel) => link.isReady(channel),
    start: (log) => link.start(log),
    check: () => link.check(),
    publish: (channel, text) => link.run(channel, (client) => client.publish(channel, text)),
    subscribe: (channel, listener) => link.run(channel, (client) => client.subscribe(channel, listener)),
    unsubscribe: (channel, listener) => link.run(channel, (client) => client.unsubscribe(channel, listener)),
    noteLife: (channel) => link.noteLife(channel),
    close: () => link.close(),
  };
}
