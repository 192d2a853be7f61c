import { isIPv6, SocketAddress } from "node:net";

/**
 * The part of an address that identifies one client for limits. For IPv6 it is the /64 network, because a single customer has
 * 2^64 addresses.
 */
export function addressBucket(ip: string): string {
  if (!isIPv6(ip)) return ip;
  // One proxy may write 0db8 and another db8, and both forms of an IPv4 address are in use.
  const { address } = new SocketAddress({ address: ip.split("%", 1)[0], family: "ipv6" });
  return /^::ffff:([\d.]+)$/.exec(address)?.[1] ?? `${networkOf(address)}::/64`;
}

/** The first four groups of an address. */
function networkOf(address: string): string {
  const [head = "", tail = ""] = address.split("::");
  const [left, right] = [head, tail].map((groups) => (groups === "" ? [] : groups.split(":"))) as [string[], string[]];
  const gap = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0");
  return [...left, ...gap, ...right].slice(0, 4).join(":");
}
