import { resolveOptions } from "../core/resolve-options.ts";
import { ServerPubSub } from "../stores/server-pub-sub.ts";
import { storeKey } from "../stores/store-key.ts";
import { NatsLink } from "./nats-link.ts";
import { type NatsOptions, natsRules } from "./nats-options.ts";
import { readNatsUrls } from "./read-nats-urls.ts";

/**
 * The bus on NATS: an event reaches the subscribers in all processes.
 *
 * A process subscribes to a topic once, however many subscribers it has, and receives each event once. Events of a process
 * arrive in the order in which it published them. After a lost connection, each subscription ends with `PubSubGap` as soon as
 * there is a new connection, including subscriptions made in between. Until then, `publish` rejects.
 *
 * NATS keeps nothing, so the other two roles need Redis or PostgreSQL.
 *
 * @example
 * ```ts
 * import { env, PorticoApp } from "portico";
 * import { NatsPubSub } from "portico/nats";
 * import { redisStores } from "portico/redis";
 *
 * new PorticoApp({ stores: { ...redisStores(env("REDIS_URL")), bus: new NatsPubSub(env("NATS_URL")) } });
 * ```
 */
export class NatsPubSub extends ServerPubSub {
  /** @param urls one server, or some of a cluster. The first URL has the user and password (or the token) for all of them. */
  constructor(urls: string | readonly string[], options: NatsOptions = {}) {
    const servers = readNatsUrls(urls);
    const { prefix, timeoutSeconds, maxQueued, connection } = resolveOptions("NatsPubSub", options, natsRules);
    super({
      link: (events) => new NatsLink({ ...servers, ...connection }, timeoutSeconds * 1000, events),
      channelName: (topic) => `${prefix}.bus.${subject(topic)}`,
      maxQueued,
    });
  }
}

/** A topic as NATS writes it: without wildcards, spaces and empty parts. */
function subject(topic: string): string {
  return encodeURIComponent(storeKey(topic))
    .replaceAll("*", "%2A")
    .replace(/^\.|\.$|\.(?=\.)/g, "%2E");
}
