import { ConfigurationError } from "../core/configuration-error.ts";
import { listOf, type OptionRule, resolveOptions, thing } from "../core/resolve-options.ts";

/** A Redis Cluster. */
export interface RedisClusterAddress {
  /** URLs of some of its nodes, with the user, the password and TLS (`rediss://`) for all of them. */
  readonly cluster: readonly string[];
}

/** A primary that Redis Sentinel watches and replaces. */
export interface RedisSentinelAddress {
  /** URLs of the Sentinels. */
  readonly sentinels: readonly string[];
  /** A URL with the name that the Sentinels have for the primary as its host: `redis://user:password@mymaster/0`. */
  readonly primary: string;
}

/** Where Redis is: the URL of one server, a cluster, or a primary behind Sentinel. */
export type RedisAddress = string | RedisClusterAddress | RedisSentinelAddress;

const EXAMPLE = 'a URL such as "redis://127.0.0.1:6379" or "rediss://user:password@host:6380/0"';
const url: OptionRule<string> = thing(EXAMPLE, isRedisUrl);
const urls: OptionRule<readonly string[]> = {
  ...listOf<string>(`a list of URLs such as "redis://127.0.0.1:6379"`, isRedisUrl),
  isSecret: true,
};

/**
 * Throws `ConfigurationError` for an invalid address. The message does not repeat a URL, which may contain a password.
 */
export function checkRedisAddress(option: string, address: unknown): asserts address is RedisAddress {
  if (isAddressObject(address)) {
    const rules = "cluster" in address ? { cluster: urls } : { sentinels: urls, primary: url };
    for (const [name, value] of Object.entries(resolveOptions(option, address, rules)))
      if (value === undefined || value.length === 0) throw new ConfigurationError(`${option}.${name}`, "is missing");
  } else if (!isRedisUrl(address))
    throw new ConfigurationError(option, `must be ${EXAMPLE}, or the address of a cluster or of Sentinels`);
}

/** Whether this is the address of a cluster or of Sentinels, valid or not. */
export function isAddressObject(address: unknown): address is RedisClusterAddress | RedisSentinelAddress {
  return (
    typeof address === "object" && address !== null && ["cluster", "sentinels", "primary"].some((key) => key in address)
  );
}

/** Returns hosts and ports, for messages. */
export function redisHost(address: RedisAddress): string {
  if (typeof address === "string") {
    const { hostname, port } = new URL(address);
    return `${hostname}:${port || 6379}`;
  }
  if ("cluster" in address) return `the cluster of ${address.cluster.map(redisHost).join(", ")}`;
  return `${new URL(address.primary).hostname} of the Sentinels ${address.sentinels.map(redisHost).join(", ")}`;
}

/** Returns the URL with another host and port. */
export function atHost(base: string, host: string, port: number): string {
  const moved = new URL(base);
  moved.host = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return moved.href;
}

function isRedisUrl(text: unknown): text is string {
  if (typeof text !== "string" || !URL.canParse(text)) return false;
  const { protocol, hostname, pathname, username, password } = new URL(text);
  return (
    /^rediss?:$/.test(protocol) && hostname !== "" && /^\/?\d*$/.test(pathname) && isDecodable(username + password)
  );
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
