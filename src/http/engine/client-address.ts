import { isIP } from "node:net";

/**
 * The client's address, as trusted proxies forward it; some append a port. If the text is not a valid address, the address of
 * the connection is used. Otherwise a client could invent texts and get a separate rate limit for each.
 */
export function clientAddress(told: string, peer: string | undefined): string {
  if (isIP(told) !== 0) return told;
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(told)?.[1] ?? /^([\d.]+):\d+$/.exec(told)?.[1] ?? "";
  return isIP(bare) === 0 ? (peer ?? "") : bare;
}
