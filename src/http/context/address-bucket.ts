import { isIPv6 } from "node:net";

/**
 * The part of an address that identifies one client for limits. For IPv6 it is the /64 network, because a single customer has
 * 2^64 addresses.
 */
export function addressBucket(ip: string): string {
  if (!isIPv6(ip)) return ip;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  const network = expand(ip).slice(0, 4);
  // One proxy may write 0db8 and another db8.
  return mapped ?? `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}

function expand(ip: string): readonly string[] {
  const [head = "", tail] = ip.split("%", 1)[0]?.split("::") ?? [];
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  return [...left, ...Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0"), ...right];
}
