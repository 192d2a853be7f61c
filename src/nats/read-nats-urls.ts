import { ConfigurationError } from "../core/configuration-error.ts";
import type { NatsConnectionOptions } from "./nats-options.ts";

/**
 * The connection options in the URLs of the servers. Throws `ConfigurationError` without repeating a URL, which may contain a
 * password.
 */
export function readNatsUrls(urls: unknown): NatsConnectionOptions & { readonly servers: string[] } {
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
