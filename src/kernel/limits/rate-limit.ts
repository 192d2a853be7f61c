import { ConfigurationError } from "../../core/configuration-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { callable, positiveInteger, resolveOptions, text, withMethod } from "../../core/resolve-options.ts";
import type { CounterStore } from "../../stores/counter-store.ts";
import type { BaseContext, HttpContext, WebSocketContext } from "../context/http-context.ts";
import type { MiddlewareFunction, ProductionNeeds } from "../context/middleware-function.ts";
import { TooManyRequests } from "../exceptions/http-exception.ts";
import { addressBucket } from "../exchange/address-bucket.ts";
import { GuardedCounter } from "./guarded-counter.ts";

/** How many requests a client may send. Exactly one of `perSecond`, `perMinute` and `perHour` is required. */
export interface RateLimitOptions {
  readonly perSecond?: number;
  readonly perMinute?: number;
  readonly perHour?: number;
  /** Attempts with one key are counted together. @default the client's address; for IPv6 the first 64 bits */
  readonly key?: (ctx: HttpContext | WebSocketContext) => MaybePromise<string>;
  /** The store for the counters. @default the app's `stores.counters` */
  readonly store?: CounterStore;
  /**
   * Limits with one name and the same numbers share their counters, also between processes. @default unique, by the order in
   * which limits are created
   */
  readonly name?: string;
}

/**
 * A rate limit. As middleware it counts requests; `attempt` counts anything else, such as calls of a field.
 *
 * @example
 * ```ts
 * import { type RateLimit, rateLimit } from "portico";
 * import { mutation, t } from "portico/graphql";
 *
 * const invitations: RateLimit = rateLimit({ perHour: 20, key: (ctx) => ctx.user.identity });
 *
 * export const invite = mutation(t.boolean, { params: { emails: t.list(t.string) }, auth: true })(async ({ emails, ctx }) => {
 *   for (const _email of emails) await invitations.attempt(ctx); // each of them counts
 *   return true;
 * });
 * ```
 */
export interface RateLimit extends MiddlewareFunction {
  /** Counts one attempt of the caller. Rejects with `TooManyRequests` above the limit. */
  attempt(ctx: BaseContext): Promise<void>;
  /** @internal The limit in words: `30 per minute`. */
  readonly rate: string;
}

const WINDOWS = { perSecond: 1, perMinute: 60, perHour: 3600 } as const;

let made = 0;

/**
 * Middleware that responds with 429 and `retry-after` when a client exceeds the limit. It works on routes, on the upgrade of
 * sockets, and as the option `limit` of a GraphQL field. If the store fails, each process counts in memory until the store is
 * back, so that a limit always applies.
 *
 * @example
 * ```ts
 * import { PorticoApp, rateLimit } from "portico";
 *
 * new PorticoApp().post("/orders", { middleware: [rateLimit({ perMinute: 30 })] }, () => "ordered");
 * ```
 */
export function rateLimit(options: RateLimitOptions): RateLimit {
  const { key, store, name, ...limits } = resolveOptions("rateLimit", options, rateLimitRules);
  const { limit, windowSeconds, rate } = oneOf(limits);
  const prefix = `rate:${name ?? made++}:${limit}:${windowSeconds}:`;
  const counter = new GuardedCounter("rateLimit");

  const attempt = async (ctx: BaseContext): Promise<void> => {
    const counted = prefix + (await (key ?? byAddress)(ctx));
    const count = await counter.increment(
      ctx.services,
      store ?? ctx.services.stores.counters,
      counted,
      windowSeconds * 1000,
    );
    if (count.value > limit) throw new TooManyRequests(Math.max(1, Math.ceil(count.resetAfterMs / 1000)));
  };
  const rateLimit: MiddlewareFunction = async (ctx, next) => {
    await attempt(ctx);
    await next();
  };
  const needs: ProductionNeeds = store === undefined ? { stores: "rate limits" } : {};
  return Object.assign(rateLimit, { attempt, rate, "~needs": needs });
}

function byAddress({ request }: HttpContext | WebSocketContext): string {
  return addressBucket(request.ip);
}

const rateLimitRules = {
  perSecond: positiveInteger,
  perMinute: positiveInteger,
  perHour: positiveInteger,
  key: callable as typeof callable & { read: (value: unknown) => NonNullable<RateLimitOptions["key"]> },
  store: withMethod<CounterStore>("a counter store", "increment"),
  name: text,
};

function oneOf(limits: Readonly<Partial<Record<keyof typeof WINDOWS, number | undefined>>>): {
  readonly limit: number;
  readonly windowSeconds: number;
  readonly rate: string;
} {
  const given = (Object.keys(WINDOWS) as (keyof typeof WINDOWS)[]).filter((window) => limits[window] !== undefined);
  const [window] = given;
  if (window === undefined || given.length > 1)
    throw new ConfigurationError(
      "rateLimit",
      `requires exactly one of perSecond, perMinute and perHour, received ${given.join(" and ") || "none"}`,
    );
  const limit = limits[window] as number;
  return { limit, windowSeconds: WINDOWS[window], rate: `${limit} ${window.replace("per", "per ").toLowerCase()}` };
}

/** The limits of those middleware that come from `rateLimit`, in words: `30 per minute`. */
export function ratesOf(middleware: readonly MiddlewareFunction[]): readonly string[] {
  return middleware.map((entry) => (entry as Partial<RateLimit>).rate).filter((rate) => rate !== undefined);
}
