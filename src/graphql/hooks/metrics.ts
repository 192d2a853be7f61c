import { NamedRows } from "./named-rows.ts";
import type { OperationContext, OperationResult } from "./operation-hook.ts";

/** What is known of the operations of one name. */
export interface MetricsRecord {
  readonly count: number;
  /** Operations that produced errors. */
  readonly errors: number;
  /** Without subscriptions, as in the next: how long they were open does not make them slow. */
  readonly average_seconds: number;
  readonly slowest_seconds: number;
  /** Of those whose cost was measured: not of those that were refused before. */
  readonly average_cost: number;
}

interface Totals {
  count: number;
  /** Those of them whose durations count. */
  timed: number;
  errors: number;
  seconds: number;
  slowest: number;
  cost: number;
  /** Those of them whose cost was measured. */
  costed: number;
}

const MOST_NAMES = 1_000;

/**
 * A hook that counts operations by name: running totals in memory, nothing else. Unnamed operations share the row
 * `<anonymous>`; after 1,000 names the next ones, and names of more than 200 characters, share `<other>`. An operation that was
 * refused before it ran is counted in the row of its name if there is one, else in `<anonymous>`. Of subscriptions the number,
 * the errors and the costs count, not how long they were open.
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

  /** Forgets everything. */
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
