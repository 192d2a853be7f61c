import { rateLimit } from "../../http/limits/rate-limit.ts";
import type { MiddlewareFunction } from "../../http/routing/middleware.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** How often one address may begin to listen: sockets and streams of events count together. `null` is any number of times. */
export function connectLimit({ connectsPerMinute }: Subscriptions, path: string): MiddlewareFunction | null {
  return connectsPerMinute === 0 ? null : rateLimit({ perMinute: connectsPerMinute, name: `socket ${path}` });
}
