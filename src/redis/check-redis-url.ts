import { ConfigurationError } from "../core/configuration-error.ts";

/**
 * Throws `ConfigurationError` for an invalid Redis URL. The message does not repeat the URL, which may contain a
 * password.
 */
export function checkRedisUrl(option: string, url: unknown): asserts url is string {
  if (typeof url === "string" && isRedisUrl(url)) return;
  throw new ConfigurationError(
    option,
    'must be a URL such as "redis://127.0.0.1:6379" or "rediss://user:password@host:6380/0"',
  );
}

/** Returns host and port, for messages. */
export function redisHost(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || 6379}`;
}

function isRedisUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
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
