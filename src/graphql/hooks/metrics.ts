import { NamedRows } from "./named-rows.ts";
import type { OperationContext, OperationResult } from "./operation-hook.ts";

/** The totals of all operations with one name. */
export interface MetricsRecord {
  readonly count: number;
  /** The number of operations with errors. */
  readonly errors: number;
  /** Without subscriptions, as in `slowest_seconds`: a subscription that is open for long is not slow. */
  readonly average_seconds: number;
  readonly slowest_seconds: number;
  /** The average over operations whose cost was measured, so without those that were rejected earlier. */
  readonly average_cost: number;
}

interface Totals {
  count: number;
  /** The number of them whose durations are included. */
  timed: number;
  errors: number;
  seconds: number;
  slowest: number;
  cost: number;
  /** The number of them whose cost was measured. */
  costed: number;
}

const MOST_NAMES = 1_000;

/**
 * A hook that keeps running totals by operation name, in memory. Unnamed operations share the row `<anonymous>`. After 1,000
 * names, further ones share `<other>`, and so do names of more than 200 characters. An operation that was rejected before it
 * ran is counted in the row of its name if that exists, otherwise in `<anonymous>`. Durations do not include subscriptions.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { field, Graph, Metrics, schema, t } from "portico/graphql";
 *
 * const metrics = new Metrics();
 * const app = new PorticoApp();
 * new Graph(schema({ query: { hello: field(t.string)(() => "world") } })).onOperation(metrics).mount(app);
 * app.get("/metrics", () => metrics.snapshot());
 * ```
 */
export class Metrics {
  readonly #rows = new NamedRows<Totals>(
    () => ({ count: 0, timed: 0, errors: 0, seconds: 0, slowest: 0, cost: 0, costed: 0 }),
    MOST_NAMES,
  );

  onOperation(result: OperationResult, context: OperationContext): void {
    const row = this.#rows.of(context);
    row.count++;
    if (!result.ok) row.errors++;
    row.cost += context.cost ?? 0;
    if (context.cost !== null) row.costed++;
    if (context.operationType === "subscription") return;
    row.timed++;
    row.seconds += context.durationSeconds;
    row.slowest = Math.max(row.slowest, context.durationSeconds);
  }

  /** The totals so far, by operation name. */
  snapshot(): Readonly<Record<string, MetricsRecord>> {
    return Object.fromEntries([...this.#rows].map(([name, row]) => [name, recordOf(row)]));
  }

  /** Resets all totals. */
  reset(): void {
    this.#rows.clear();
  }
}

function recordOf({ count, timed, errors, seconds, slowest, cost, costed }: Totals): MetricsRecord {
  return {
    count,
    errors,
    average_seconds: timed === 0 ? 0 : seconds / timed,
    slowest_seconds: slowest,
    average_cost: costed === 0 ? 0 : cost / costed,
  };
}
