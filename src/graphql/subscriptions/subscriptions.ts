import { ConfigurationError } from "../../core/configuration-error.ts";
import {
  flag,
  optional,
  positiveInteger,
  resolveOptions,
  rule,
  seconds,
  wholeNumber,
} from "../../core/resolve-options.ts";
import { type Size, size } from "../../core/size.ts";
import { rateLimit } from "../../http/limits/rate-limit.ts";
import type { MiddlewareFunction } from "../../http/routing/middleware.ts";

/** How subscriptions are served. */
export interface SubscriptionsOptions {
  /** Whether there is a socket at the endpoint's path; without one, events come over HTTP. @default true */
  readonly socket?: boolean;
  /** Whether queries and mutations are taken over the socket too. @default false */
  readonly operations?: boolean;
  /** How long a client may take to say `connection_init`, in seconds. @default 3 */
  readonly initSeconds?: number;
  /** How often a socket is pinged, and a stream over HTTP gets a comment, in seconds. @default 12 */
  readonly pingSeconds?: number;
  /** Operations that may run on one socket; as many again may be ending that the client has left. @default 100 */
  readonly maxPerSocket?: number;
  /** Sockets and streams of events that one address may open in a minute; beyond it they are 429. 0 is any number. @default 600 */
  readonly connectsPerMinute?: number;
  /** Messages and pings that a client may send in a second; beyond it the socket is closed with 1008. 0 is any number. @default 500 */
  readonly messagesPerSecond?: number;
  /** Unread bytes of one client beyond which no more events are made for it. @default "256kb", or `maxBuffered` where that is less */
  readonly pauseAbove?: Size;
  /** Unread bytes of one client beyond which it is dropped with 1013. @default "4mb" */
  readonly maxBuffered?: Size;
}

const PAUSE_ABOVE = 256 * 1024;

const rules = {
  socket: optional(flag, true),
  operations: optional(flag, false),
  initSeconds: optional(
    rule<number>(
      "a number of seconds above 0, at most 600",
      (value) => typeof value === "number" && value > 0 && value <= 600,
    ),
    3,
  ),
  pingSeconds: optional(seconds, 12),
  maxPerSocket: optional(positiveInteger, 100),
  connectsPerMinute: optional(wholeNumber, 600),
  messagesPerSecond: optional(wholeNumber, 500),
  pauseAbove: size,
  maxBuffered: optional(size, 4 * 1024 ** 2),
};

/** The options, complete. Sizes are in bytes. */
export interface Subscriptions extends Required<Omit<SubscriptionsOptions, "pauseAbove" | "maxBuffered">> {
  readonly pauseAbove: number;
  readonly maxBuffered: number;
}

/** Checks the options; a wrong value throws `ConfigurationError`. */
export function readSubscriptions(options: SubscriptionsOptions): Subscriptions {
  const read = resolveOptions("Graph.subscriptions", options, rules);
  const { maxBuffered, pauseAbove = Math.min(PAUSE_ABOVE, maxBuffered) } = read;
  if (pauseAbove > maxBuffered)
    throw new ConfigurationError(
      "Graph.subscriptions.pauseAbove",
      `at most maxBuffered (${maxBuffered} bytes), or slow clients would be disconnected instead of paused`,
      pauseAbove,
    );
  return { ...read, pauseAbove };
}

/** How often one address may begin to listen: sockets and streams of events count together. `null` is any number of times. */
export function connectLimit({ connectsPerMinute }: Subscriptions, path: string): MiddlewareFunction | null {
  return connectsPerMinute === 0 ? null : rateLimit({ perMinute: connectsPerMinute, name: `socket ${path}` });
}
