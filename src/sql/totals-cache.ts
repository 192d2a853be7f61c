import { type Clock, systemClock } from "../core/clock.ts";
import { outside } from "../core/outside.ts";
import { optional, positiveInteger, resolveOptions, rule, seconds } from "../core/resolve-options.ts";

export interface TotalsCacheOptions {
  /** How long a count is good for. @default 30 */
  readonly seconds?: number;
  /** How many counts are kept; the oldest goes. @default 1000 */
  readonly max?: number;
  /** Where time comes from. @default the system */
  readonly clock?: Clock;
}

/** Keeps the counts of one database for a while. */
export interface TotalsCache {
  /** The count under this key, made when it is not there; two who ask at once wait for the same one. */
  get(key: string, count: () => Promise<number>): Promise<number>;
}

/**
 * Keeps exact counts for a while, by statement and parameters. Make one for each database: two databases may give
 * different counts for the same statement.
 *
 * @example
 * ```ts
 * import type { Kysely } from "kysely";
 * import { tableHandler, totalsCache } from "portico/sql";
 *
 * const counts = totalsCache({ seconds: 60 });
 * const books = (database: Kysely<{ books: { id: string } }>) =>
 *   tableHandler(database.selectFrom("books").selectAll(), { totalsCache: counts });
 * ```
 */
export function totalsCache(options: TotalsCacheOptions = {}): TotalsCache {
  const { seconds, max, clock } = resolveOptions("totalsCache", options, cacheRules);
  const kept = new Map<string, { readonly total: Promise<number>; readonly until: number }>();
  return {
    get(key, count) {
      const known = kept.get(key);
      if (known !== undefined && clock.monotonic() < known.until) return known.total;
      kept.delete(key);
      // Outside: others wait for it as well, and the request that happens to start it may be given up.
      const total = outside(count);
      // A count that failed is not kept.
      total.catch(() => kept.delete(key));
      kept.set(key, { total, until: clock.monotonic() + seconds * 1000 });
      const [oldest] = kept.keys();
      if (kept.size > max && oldest !== undefined) kept.delete(oldest);
      return total;
    },
  };
}

const cacheRules = {
  seconds: optional(seconds, 30),
  max: optional(positiveInteger, 1_000),
  clock: optional(
    rule<Clock>("a clock", (value) => typeof (value as Clock | null)?.now === "function"),
    systemClock,
  ),
};
