import { Histogram } from "../core/parts/histogram.ts";
import type { Figure } from "../core/parts/parts.ts";
import { type SeriesName, seriesList } from "../core/parts/series-list.ts";
import { listOf, type OptionRule, optional, REFUSED, resolveOptions } from "../core/resolve-options.ts";
import type { RequestEvent, WatchFigures } from "../kernel/hooks/request-hooks.ts";
import { NamedRows } from "./named-rows.ts";
import type { ObservedOperation, ObservedResult, ObservedStatement } from "./observed-operation.ts";
import { NO_ROUTE } from "./route-name.ts";
import { Series } from "./series.ts";
import { statementVerb } from "./statement-verb.ts";

export interface PrometheusOptions {
  /**
   * The operation names with separate series: a number for the first names that arrive, or a list. Others are `<other>`.
   *
   * @default 100
   */
  readonly operations?: number | readonly string[];
}

/** Hooks for operations, requests and statements, and the series that they have counted. */
export interface PrometheusHook {
  onOperation(result: ObservedResult, context: ObservedOperation): void;
  onRequest(event: RequestEvent): void;
  /** Adds the figures of an application's parts: its load, stores, databases, connections and log. */
  readonly watchFigures: WatchFigures;
  /** It needs no `this`: pass it as the option `onStatement` of `openDatabase`. */
  readonly onStatement: (statement: ObservedStatement) => void;
  /** The series so far, in Prometheus' text format. */
  text(): string;
  /** The media type of `text()`. */
  readonly contentType: string;
}

const MAX_NAMES = 1_000;
const names: OptionRule<readonly string[]> = listOf("", (name) => typeof name === "string");
const operations: OptionRule<number | readonly string[]> = {
  expected: `a number from 0 to ${MAX_NAMES.toLocaleString("en")}, or a list of at most that many names`,
  read(value) {
    if (typeof value === "number") return Number.isInteger(value) && value >= 0 && value <= MAX_NAMES ? value : REFUSED;
    return Array.isArray(value) && value.length <= MAX_NAMES ? names.read(value) : REFUSED;
  },
};
const rules = { operations: optional(operations, 100) };

/**
 * Counts for Prometheus. As a hook of a `Graph`: a histogram of durations and a counter of operations with errors, by
 * operation name and type. As a hook of the application: a histogram of requests by method, route and status, and the open
 * sockets by route; it then also shows the saturation of the application: event loop, limits, pools, stores, connections and
 * descriptors. As `onStatement` of a database: a histogram of statements. Names beyond the limit share `<other>`, and
 * rejected operations and unknown paths never add a name, so clients cannot create series.
 *
 * @example
 * ```ts
 * import { PorticoApp, prometheus } from "portico";
 * import { useAuth } from "portico/auth";
 * import { field, Graph, schema, t } from "portico/graphql";
 * import { openDatabase } from "portico/sql";
 *
 * const metrics = prometheus();
 * const app = new PorticoApp().onRequest(metrics);
 * const database = openDatabase("sqlite:shop.db", { onStatement: metrics.onStatement });
 * new Graph(schema({ query: { hello: field(t.string)(() => "world") } })).onOperation(metrics).mount(app);
 * app.get("/metrics", { auth: useAuth({ permissions: ["read:metrics"] }) }, ({ response }) =>
 *   response.header("content-type", metrics.contentType).text(metrics.text()),
 * );
 * ```
 */
export function prometheus(options: PrometheusOptions = {}): PrometheusHook {
  const { operations } = resolveOptions("prometheus", options, rules);
  const operationSeries = new OperationSeries(operations);
  const requestSeries = new RequestSeries();
  const statements = new Series(["statement"], () => new Histogram());
  const applications: (() => readonly Figure[])[] = [];
  return {
    onOperation: (result, context) => operationSeries.count(result, context),
    onRequest: (event) => requestSeries.count(event),
    watchFigures(figures) {
      applications.push(figures);
    },
    onStatement: ({ sql, durationSeconds }) => statements.of(statementVerb(sql)).add(durationSeconds),
    text: () =>
      [
        ...operationSeries.print(),
        ...requestSeries.print(),
        ...statements.print(STATEMENTS, "histogram", "Duration of SQL statements.", (histogram, labels) =>
          histogram.print(STATEMENTS, labels),
        ),
        ...printFigures(applications.flatMap((figures) => figures())),
        "",
      ].join("\n"),
    contentType: "text/plain; version=0.0.4; charset=utf-8",
  };
}

const STATEMENTS = "portico_sql_statement_duration_seconds";
const OPERATIONS = "portico_graphql_operation_duration_seconds";
const ERRORS = "portico_graphql_operation_errors_total";
const REQUESTS = "portico_http_request_duration_seconds";
const SOCKETS = "portico_sockets_open";

class OperationSeries {
  readonly #rows: NamedRows<{ readonly name: string }>;
  readonly #series = new Series(["operation", "type"], () => ({ histogram: new Histogram(), errors: 0 }));

  constructor(names: number | readonly string[]) {
    this.#rows = new NamedRows((name) => ({ name }), names);
  }

  count({ ok }: ObservedResult, context: ObservedOperation): void {
    const type = context.isRefused ? "refused" : (context.operationType ?? "query");
    const series = this.#series.of(this.#rows.of(context).name, type);
    series.histogram.add(context.durationSeconds);
    if (!ok) series.errors++;
  }

  print(): readonly string[] {
    const help = "Duration of GraphQL operations; for subscriptions, the time that they were open.";
    return [
      ...this.#series.print(OPERATIONS, "histogram", help, ({ histogram }, labels) =>
        histogram.print(OPERATIONS, labels),
      ),
      ...this.#series.print(
        ERRORS,
        "counter",
        "GraphQL operations whose response had errors.",
        ({ errors }, labels) => [`${ERRORS}{${labels}} ${errors}`],
      ),
    ];
  }
}

class RequestSeries {
  readonly #requests = new Series(["method", "route", "status"], () => new Histogram());
  readonly #sockets = new Series(["route"], () => ({ open: 0 }));

  count({ kind, method, route, status, durationSeconds }: RequestEvent): void {
    if (kind === "response") {
      // Clients can invent methods and paths.
      const labels = route === null ? (["<other>", NO_ROUTE] as const) : ([method, route] as const);
      this.#requests.of(...labels, String(status)).add(durationSeconds);
    } else this.#sockets.of(route ?? NO_ROUTE).open += kind === "socket-opened" ? 1 : -1;
  }

  print(): readonly string[] {
    return [
      ...this.#requests.print(REQUESTS, "histogram", "Duration of requests to routes.", (histogram, labels) =>
        histogram.print(REQUESTS, labels),
      ),
      ...this.#sockets.print(SOCKETS, "gauge", "WebSocket connections that are open.", ({ open }, labels) => [
        `${SOCKETS}{${labels}} ${open}`,
      ]),
    ];
  }
}

/** Prints the figures of parts in Prometheus' text format, in the order of the list. */
function printFigures(figures: readonly Figure[]): readonly string[] {
  const byName = Map.groupBy(figures, ({ series }) => series);
  return Object.keys(seriesList).flatMap((name) =>
    printSeries(name as SeriesName, byName.get(name as SeriesName) ?? []),
  );
}

function printSeries(name: SeriesName, figures: readonly Figure[]): readonly string[] {
  const { type, help, labels } = seriesList[name];
  const series = new Series<{ value: Figure["value"] | null }>(labels, () => ({ value: null }));
  for (const figure of figures) {
    const row = series.of(...figure.labels);
    row.value = row.value === null ? figure.value : together(name, row.value, figure.value);
  }
  return series.print(name, type, help, ({ value }, text) =>
    value instanceof Histogram ? value.print(name, text) : [`${name}${text === "" ? "" : `{${text}}`} ${value}`],
  );
}

/** Two parts may share their labels, such as two pools of one database: a fault of either shows, and numbers are added. */
function together(name: SeriesName, one: Figure["value"], other: Figure["value"]): Figure["value"] {
  if (one instanceof Histogram || other instanceof Histogram) return one;
  return name.endsWith("_up") ? Math.min(one, other) : one + other;
}
