import type { Figure } from "../core/parts/parts.ts";
import type { RequestEvent } from "../kernel/hooks/request-hooks.ts";
import { ErrorsByCode, NO_CODE } from "./errors-by-code.ts";
import type { MetricsFigures, MetricsRecord } from "./metrics-figures.ts";
import { NamedRows } from "./named-rows.ts";
import { type ObservedOperation, type ObservedResult, weightOf } from "./observed-operation.ts";
import { routeName } from "./route-name.ts";
import { RunningTotals } from "./running-totals.ts";
import { saturationOf } from "./saturation.ts";

interface OperationRow {
  readonly totals: RunningTotals;
  cost: number;
  /** The number of operations whose cost was measured. */
  costed: number;
}

interface RouteRow {
  readonly totals: RunningTotals;
  refused: number;
  open: number;
}

const MAX_NAMES = 1_000;

/**
 * A hook that keeps running totals by operation name and by route, in memory. Unnamed operations share the row `<anonymous>`.
 * After 1,000 names, further ones share `<other>`, and so do names of more than 200 characters. An operation that was rejected
 * before it ran is counted in the row of its name if that exists, otherwise in `<rejected>`. Durations do not include
 * subscriptions and sockets. Errors are also counted by code: after 100 codes, further ones share `<other>`.
 *
 * @example
 * ```ts
 * import { Metrics, PorticoApp } from "portico";
 * import { field, Graph, schema, t } from "portico/graphql";
 *
 * const metrics = new Metrics();
 * const app = new PorticoApp().onRequest(metrics);
 * new Graph(schema({ query: { hello: field(t.string)(() => "world") } })).onOperation(metrics).mount(app);
 * app.get("/metrics", () => metrics.figures());
 * ```
 */
export class Metrics {
  readonly #operations = new NamedRows<OperationRow>(
    () => ({ totals: new RunningTotals(), cost: 0, costed: 0 }),
    MAX_NAMES,
  );
  readonly #routes = new Map<string, RouteRow>();

  readonly #operationErrors = new ErrorsByCode();
  readonly #routeErrors = new ErrorsByCode();

  readonly #applications = new Set<() => readonly Figure[]>();

  /** Adds the saturation of an application to the figures. `app.onRequest` calls it. */
  watchFigures(figures: () => readonly Figure[]): void {
    this.#applications.add(figures);
  }

  onOperation(result: ObservedResult, context: ObservedOperation): void {
    const row = this.#operations.of(context);
    row.totals.add(context.operationType === "subscription" ? null : context.durationSeconds, !result.ok);
    row.cost += context.cost ?? 0;
    if (context.cost !== null) row.costed++;
    for (const { extensions } of result.errors)
      this.#operationErrors.add(extensions.code, extensions.correlationId ?? null, weightOf(extensions));
  }

  onRequest(event: RequestEvent): void {
    const name = routeName(event);
    const row = this.#routes.get(name) ?? { totals: new RunningTotals(), refused: 0, open: 0 };
    this.#routes.set(name, row);
    if (event.kind === "socket-closed") {
      // The totals may have been reset while it was open.
      row.open = Math.max(0, row.open - 1);
      return;
    }
    if (event.kind === "socket-opened") row.open++;
    const isFailed = event.status >= 500;
    row.totals.add(event.kind === "response" ? event.durationSeconds : null, isFailed);
    if (isFailed) this.#routeErrors.add(event.code ?? NO_CODE, event.correlationId);
    if (event.status >= 400 && event.status < 500) row.refused++;
  }

  /** The totals so far, by operation name. */
  snapshot(): Readonly<Record<string, MetricsRecord>> {
    return Object.fromEntries([...this.#operations].map(([name, row]) => [name, recordOf(row)]));
  }

  /** The totals and percentiles so far, of operations and of routes, the errors by code, and the present saturation. */
  figures(): MetricsFigures {
    return {
      operations: Object.fromEntries(
        [...this.#operations].map(([name, row]) => [name, { ...recordOf(row), ...row.totals.percentiles() }]),
      ),
      routes: Object.fromEntries(
        [...this.#routes].map(([name, { totals, refused, open }]) => [
          name,
          { ...totals.record(), ...totals.percentiles(), refused, open_sockets: open },
        ]),
      ),
      errors: { operations: this.#operationErrors.figures(), routes: this.#routeErrors.figures() },
      saturation: saturationOf([...this.#applications].flatMap((figures) => figures())),
    };
  }

  /** Resets all totals. */
  reset(): void {
    this.#operations.clear();
    this.#routes.clear();
    this.#operationErrors.clear();
    this.#routeErrors.clear();
  }
}

function recordOf({ totals, cost, costed }: OperationRow): MetricsRecord {
  return { ...totals.record(), average_cost: costed === 0 ? 0 : cost / costed };
}
