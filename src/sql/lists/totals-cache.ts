import { type Clock, clockRule, systemClock } from "../../core/clock.ts";
import { outsideRequest } from "../../core/outside-request.ts";
import { optional, positiveInteger, resolveOptions, seconds } from "../../core/resolve-options.ts";
import { readFrom } from "../database/replicas/read-from.ts";

export interface TotalsCacheOptions {
  /** How long a count is cached, in seconds. @default 30 */
  readonly seconds?: number;
  /** How many counts are cached. The oldest one is removed first. @default 1000 */
  readonly max?: number;
  /** The source of the time. @default the system */
  readonly clock?: Clock;
}

/** Caches the counts of one database. */
export interface TotalsCache {
  /** Returns the count under this key, counting if necessary. Concurrent callers share one count. */
  get(key: string, count: () => Promise<number>): Promise<number>;
}

/**
 * Caches exact counts by statement and parameters. Create one for each database, because the same statement may have
 * different counts in two databases.
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
      // Runs outside the request, because other requests wait for it and the one that starts it may be aborted.
      const total = outsideRequest(() => readFrom("replica", count));
      // A failed count is not cached.
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
  clock: optional(clockRule, systemClock),
};
