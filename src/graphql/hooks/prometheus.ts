import { listOf, type OptionRule, optional, REFUSED, resolveOptions } from "../../core/resolve-options.ts";
import { NamedRows } from "./named-rows.ts";
import type { OperationContext, OperationResult } from "./operation-hook.ts";
import { count, emptySeries, printSeries, type Series } from "./print-series.ts";

export interface PrometheusOptions {
  /**
   * The operation names with separate series: a number for the first names that arrive, or a list. Others are `<other>`.
   *
   * @default 100
   */
  readonly operations?: number | readonly string[];
}

/** A hook and the series that it has counted. */
export interface PrometheusHook {
  onOperation(result: OperationResult, context: OperationContext): void;
  /** The series so far, in Prometheus' text format. */
  text(): string;
  /** The media type of `text()`. */
  readonly contentType: string;
}

const MOST_NAMES = 1_000;
const names: OptionRule<readonly string[]> = listOf("", (name) => typeof name === "string");
const operations: OptionRule<number | readonly string[]> = {
  expected: `a number from 0 to ${MOST_NAMES.toLocaleString("en")}, or a list of at most that many names`,
  read(value) {
    if (typeof value === "number")
      return Number.isInteger(value) && value >= 0 && value <= MOST_NAMES ? value : REFUSED;
    return Array.isArray(value) && value.length <= MOST_NAMES ? names.read(value) : REFUSED;
  },
};
const rules = { operations: optional(operations, 100) };

/**
 * A hook that counts for Prometheus: a histogram of durations and a counter of operations with errors, by operation name and
 * type. Names beyond the limit share `<other>`, and rejected operations never add a name, so clients cannot create series.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { useAuth } from "portico/auth";
 * import { field, Graph, prometheus, schema, t } from "portico/graphql";
 *
 * const app = new PorticoApp();
 * const operations = prometheus();
 * new Graph(schema({ query: { hello: field(t.string)(() => "world") } })).onOperation(operations).mount(app);
 * app.get("/metrics", { auth: useAuth({ permissions: ["read:metrics"] }) }, ({ response }) =>
 *   response.header("content-type", operations.contentType).text(operations.text()),
 * );
 * ```
 */
export function prometheus(options: PrometheusOptions = {}): PrometheusHook {
  const { operations } = resolveOptions("prometheus", options, rules);
  const rows = new NamedRows<Map<string, Series>>(() => new Map(), operations);
  return {
    onOperation(result, context) {
      const row = rows.of(context);
      const type = context.isRefused ? "refused" : (context.operationType ?? "query");
      const series = row.get(type) ?? emptySeries();
      row.set(type, series);
      count(series, context.durationSeconds, result.ok);
    },
    text: () =>
      printSeries([...rows].flatMap(([name, row]) => [...row].map(([type, series]) => ({ name, type, series })))),
    contentType: "text/plain; version=0.0.4; charset=utf-8",
  };
}
