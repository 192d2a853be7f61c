import { ConfigurationError } from "../core/configuration-error.ts";
import { resolveOptions } from "../core/resolve-options.ts";
import { ServerPubSub } from "../stores/server-pub-sub.ts";
import { storeKey } from "../stores/store-key.ts";
import { NatsLink } from "./nats-link.ts";
import { type NatsConnectionOptions, type NatsOptions, natsRules } from "./nats-options.ts";

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

/**
 * The connection options in the URLs of the servers. Throws `ConfigurationError` without repeating a URL, which may contain a
 * password.
 */
function readNatsUrls(urls: unknown): NatsConnectionOptions & { readonly servers: string[] } {
  const given: readonly unknown[] = Array.isArray(urls) ? urls : [urls];
  const parsed = given.map((url) => (typeof url === "string" && URL.canParse(url) ? new URL(url) : null));
  const valid = parsed.filter((url) => url !== null && /^(?:nats|tls):$/.test(url.protocol) && url.hostname !== "");
  const [first] = valid;
  if (first === undefined || first === null || valid.length < given.length)
    throw new ConfigurationError("NatsPubSub.urls", 'must be a URL such as "nats://127.0.0.1:4222", or a list of them');
  const [user, pass] = [decodeURIComponent(first.username), decodeURIComponent(first.password)];
  return {
    servers: valid.map((url) => `${url?.hostname}:${url?.port || 4222}`),
    ...(pass === "" ? (user === "" ? {} : { token: user }) : { user, pass }),
    ...(first.protocol === "tls:" ? { tls: {} } : {}),
  };
}
