import { isProduction } from "../../core/env.ts";
import { currentContext } from "../../kernel/context/current-context.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { currentField, trackFields } from "../../kernel/hooks/current-field.ts";

/** How often one operation or request may send the same statement before it is logged. */
const MAX_REPETITIONS = 10;
/** A socket or a subscription may last for days, so statements after a pause are counted anew. */
const PAUSE_MS = 1_000;

/** The statements of one operation or request. */
interface Sent {
  readonly counts: Map<string, number>;
  lastAt: number;
  hasWarned: boolean;
}

/**
 * Returns a listener for the statements of a database that logs a warning when one operation or request sends the same
 * statement too often, as an N+1 query does. Returns `null` in production.
 */
export function warnOfRepetition(): ((sql: string) => void) | null {
  if (isProduction()) return null;
  trackFields();
  const byContext = new WeakMap<BaseContext, Sent>();
  return (sql) => {
    const ctx = currentContext();
    // A statement of one word starts or ends a transaction.
    if (ctx === null || !sql.includes(" ")) return;
    const now = performance.now();
    const sent = byContext.get(ctx) ?? { counts: new Map<string, number>(), lastAt: now, hasWarned: false };
    byContext.set(ctx, sent);
    if (now - sent.lastAt > PAUSE_MS) sent.counts.clear();
    sent.lastAt = now;
    const count = (sent.counts.get(sql) ?? 0) + 1;
    sent.counts.set(sql, count);
    if (count <= MAX_REPETITIONS || sent.hasWarned) return;
    sent.hasWarned = true;
    const place = currentField()?.coordinate ?? `${ctx.exchange.method} ${ctx.pattern}`;
    ctx.log.warn(
      { place, sql },
      `${place} has sent the same statement more than ${MAX_REPETITIONS} times in one request: read all rows with one statement, with a loader, or with \`parent\` on the connection`,
    );
  };
}
