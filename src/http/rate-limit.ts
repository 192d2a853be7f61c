import { isIPv6 } from "node:net";
import { ConfigurationError } from "../core/configuration-error.ts";
import type { MaybePromise } from "../core/maybe-promise.ts";
import { callable, positiveInteger, resolveOptions, rule, text } from "../core/options.ts";
import type { Count, CounterStore } from "../stores/counter.ts";
import { MemoryCounter } from "../stores/memory-counter.ts";
import type { HttpContext, WebSocketContext } from "./context.ts";
import { TooManyRequests } from "./exceptions.ts";
import type { MiddlewareFunction } from "./middleware.ts";

/** How often a client may come. One of `perSecond`, `perMinute` and `perHour` is given. */
export interface RateLimitOptions {
  readonly perSecond?: number;
  readonly perMinute?: number;
  readonly perHour?: number;
  /** Whose attempts are counted together. @default the client's address; of IPv6 the first 64 bits */
  readonly key?: (ctx: HttpContext | WebSocketContext) => MaybePromise<string>;
  /** Where the counts live. @default the app's `stores.counters` */
  readonly store?: CounterStore;
  /** Limits of the same name and numbers count together, also between processes. @default one of its own, by the order in which limits are made */
  readonly name?: string;
}

const WINDOWS = { perSecond: 1, perMinute: 60, perHour: 3600 } as const;

/** How long a failing store is left alone before it is asked again. */
const RETRY_STORE_MS = 5_000;

let made = 0;

/**
 * Middleware that answers 429 with `retry-after` once a client has come too often. Works on routes and on the upgrade of
 * sockets. When the store fails, each process counts for itself until it is back: there is never no limit.
 *
 * @example
 * ```ts
 * import { PorticoApp, rateLimit } from "portico";
 *
 * new PorticoApp().post("/orders", { middleware: [rateLimit({ perMinute: 30 })] }, () => "ordered");
 * ```
 */
export function rateLimit(options: RateLimitOptions): MiddlewareFunction {
  const { key, store, name, ...limits } = resolveOptions("rateLimit", options, rateLimitRules);
  const { limit, windowSeconds } = oneOf(limits);
  const prefix = `rate:${name ?? made++}:${limit}:${windowSeconds}:`;
  const fallback = new MemoryCounter();
  let isFailingUntil = 0;

  return async function rateLimit(ctx, next) {
    const { clock, stores, log } = ctx.host;
    const count = await increment(store ?? stores.counters, prefix + (await (key ?? byAddress)(ctx)));
    if (count.value > limit) throw new TooManyRequests(Math.max(1, Math.ceil(count.resetAfterMs / 1000)));
    await next();

    async function increment(counters: CounterStore, counted: string): Promise<Count> {
      if (clock.monotonic() >= isFailingUntil) {
        try {
          return await counters.increment(counted, windowSeconds * 1000);
        } catch (err) {
          isFailingUntil = clock.monotonic() + RETRY_STORE_MS;
          log.error({ err }, "rateLimit: the counter store failed, this process counts for itself");
        }
      }
      return fallback.increment(counted, windowSeconds * 1000);
    }
  };
}

const rateLimitRules = {
  perSecond: positiveInteger,
  perMinute: positiveInteger,
  perHour: positiveInteger,
  key: callable as typeof callable & { read: (value: unknown) => NonNullable<RateLimitOptions["key"]> },
  store: rule<CounterStore>(
    "a counter store",
    (value) => typeof (value as CounterStore | null)?.increment === "function",
  ),
  name: text,
};

function oneOf(limits: Readonly<Partial<Record<keyof typeof WINDOWS, number | undefined>>>): {
  readonly limit: number;
  readonly windowSeconds: number;
} {
  const given = (Object.keys(WINDOWS) as (keyof typeof WINDOWS)[]).filter((window) => limits[window] !== undefined);
  const [window] = given;
  if (window === undefined || given.length > 1)
    throw new ConfigurationError(
      "rateLimit",
      `takes one of perSecond, perMinute and perHour, and was given ${given.join(" and ") || "none"}`,
    );
  return { limit: limits[window] as number, windowSeconds: WINDOWS[window] };
}

/** Of IPv6 the network: a single customer has 2^64 addresses to come from. */
function byAddress(ctx: HttpContext | WebSocketContext): string {
  const { ip } = ctx.request;
  if (!isIPv6(ip)) return ip;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  const network = expand(ip).slice(0, 4);
  // A proxy may write 0db8 where another writes db8.
  return mapped ?? `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}

function expand(ip: string): readonly string[] {
  const [head = "", tail] = ip.split("%", 1)[0]?.split("::") ?? [];
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  return [...left, ...Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0"), ...right];
}
