import type { OperationContext, OperationResult } from "./operation-hook.ts";

/** What is known of the operations of one name. */
export interface MetricsRecord {
  readonly count: number;
  /** Operations that produced errors. */
  readonly errors: number;
  readonly average_seconds: number;
  readonly slowest_seconds: number;
  readonly average_cost: number;
}

interface Totals {
  count: number;
  errors: number;
  seconds: number;
  slowest: number;
  cost: number;
}

/** Names that no operation can have. */
const ANONYMOUS = "<anonymous>";
const OTHER = "<other>";
const MOST_NAMES = 1_000;

/**
 * A hook that counts operations by name: running totals in memory, nothing else. Unnamed operations, and those that were
 * refused before they ran, share the row `<anonymous>`; after 1,000 names the next ones share `<other>`.
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
  // A Map: `constructor` is a name like any other.
  readonly #rows = new Map<string, Totals>();

  onOperation(result: OperationResult, context: OperationContext): void {
    const row = this.#row(context.isRefused ? ANONYMOUS : (context.operationName ?? ANONYMOUS));
    row.count++;
    if (!result.ok) row.errors++;
    row.seconds += context.durationSeconds;
    row.slowest = Math.max(row.slowest, context.durationSeconds);
    row.cost += context.cost ?? 0;
  }

  /** The totals so far, by operation name. */
  snapshot(): Readonly<Record<string, MetricsRecord>> {
    return Object.fromEntries([...this.#rows].map(([name, row]) => [name, recordOf(row)]));
  }

  /** Forgets everything. */
  reset(): void {
    this.#rows.clear();
  }

  #row(name: string): Totals {
    const isNew = !this.#rows.has(name) && name !== ANONYMOUS;
    const key = isNew && this.#names() >= MOST_NAMES ? OTHER : name;
    const row = this.#rows.get(key) ?? { count: 0, errors: 0, seconds: 0, slowest: 0, cost: 0 };
    this.#rows.set(key, row);
    return row;
  }

  #names(): number {
    return this.#rows.size - (this.#rows.has(ANONYMOUS) ? 1 : 0) - (this.#rows.has(OTHER) ? 1 : 0);
  }
}

function recordOf({ count, errors, seconds, slowest, cost }: Totals): MetricsRecord {
  return { count, errors, average_seconds: seconds / count, slowest_seconds: slowest, average_cost: cost / count };
}
