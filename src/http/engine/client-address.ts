import { isIP } from "node:net";

/**
 * The address of a client, as trusted proxies tell it: some write a port behind it. What is no address is nobody's, and the
 * connection's own counts; else whoever makes texts up would have a limit of their own for each.
 */
export function clientAddress(told: string, peer: string | undefined): string {
  if (isIP(told) !== 0) return told;
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(told)?.[1] ?? /^([\d.]+):\d+$/.exec(told)?.[1] ?? "";
  return isIP(bare) === 0 ? (peer ?? "") : bare;
}
