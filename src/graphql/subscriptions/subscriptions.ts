import { ConfigurationError } from "../../core/configuration-error.ts";
import {
  flag,
  optional,
  positiveInteger,
  resolveOptions,
  seconds,
  secondsUpTo,
  wholeNumber,
} from "../../core/resolve-options.ts";
import { type Size, size } from "../../core/size.ts";
import type { MiddlewareFunction } from "../../kernel/context/middleware-function.ts";
import { rateLimit } from "../../kernel/limits/rate-limit.ts";

/** The options of subscriptions. */
export interface SubscriptionsOptions {
  /** Whether the endpoint's path accepts WebSockets. Events can always be streamed over HTTP. @default true */
  readonly socket?: boolean;
  /** Whether the socket accepts queries and mutations too. @default false */
  readonly operations?: boolean;
  /** The time limit for `connection_init`, in seconds. @default 3 */
  readonly initSeconds?: number;
  /** The interval of pings on a socket and of comments in a stream over HTTP, in seconds. @default 12 */
  readonly pingSeconds?: number;
  /** The maximum number of operations on one socket; as many again may still be ending. @default 100 */
  readonly maxPerSocket?: number;
  /** Sockets and streams that one address may open per minute before it receives 429; 0 disables the limit. @default 600 */
  readonly connectsPerMinute?: number;
  /** Messages and pings per second before a socket is closed with 1008; 0 disables the limit. @default 500 */
  readonly messagesPerSecond?: number;
  /** Unread data of one client above which its events pause. @default "256kb", or `maxBuffered` if that is less */
  readonly pauseAbove?: Size;
  /** Unread data of one client above which it is disconnected with 1013. @default "4mb" */
  readonly maxBuffered?: Size;
}

const PAUSE_ABOVE = 256 * 1024;

const rules = {
  socket: optional(flag, true),
  operations: optional(flag, false),
  initSeconds: optional(secondsUpTo(600), 3),
  pingSeconds: optional(seconds, 12),
  maxPerSocket: optional(positiveInteger, 100),
  connectsPerMinute: optional(wholeNumber, 600),
  messagesPerSecond: optional(wholeNumber, 500),
  pauseAbove: size,
  maxBuffered: optional(size, 4 * 1024 ** 2),
};

/** The options with their defaults. Sizes are in bytes. */
export interface Subscriptions extends Required<Omit<SubscriptionsOptions, "pauseAbove" | "maxBuffered">> {
  readonly pauseAbove: number;
  readonly maxBuffered: number;
}

/** Checks the options. An invalid value throws `ConfigurationError`. */
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

/** Limits how often one address may open a socket or a stream; both use one counter. `null` without a limit. */
export function connectLimit({ connectsPerMinute }: Subscriptions, path: string): MiddlewareFunction | null {
  return connectsPerMinute === 0 ? null : rateLimit({ perMinute: connectsPerMinute, name: `socket ${path}` });
}
