import type { Figure } from "../core/parts/parts.ts";
import type { SeriesName } from "../core/parts/series-list.ts";

/** How much of one limit, queue or connection is in use. */
export interface Saturation {
  /** The limit, queue or connection, such as `Requests in flight`. */
  readonly name: string;
  readonly value: number;
  /** `null` if it has no limit. */
  readonly limit: number | null;
  /** `failed` for what does not work, `high` from 90 % of a limit, or while callers wait. */
  readonly state: "ok" | "high" | "failed";
}

const HIGH = 0.9;
/** A delay of the event loop from which users notice it, in milliseconds. */
const LATE_MS = 100;

interface Declared {
  readonly series: SeriesName;
  readonly name: (label: string) => string;
  /** The series of the limit, or the limit itself. */
  readonly limit?: SeriesName | number;
  /** The series of the callers that wait because of the limit. */
  readonly waiting?: SeriesName;
  /** The value of the second label. */
  readonly only?: string;
}

const rows: readonly Declared[] = [
  {
    series: "http_server_active_requests",
    name: () => "Requests in flight",
    limit: "portico_load_limit",
  },
  { series: "nodejs_eventloop_utilization_ratio", name: () => "Event loop busy", limit: 1 },
  {
    series: "db_client_connection_count",
    name: (pool) => `Connections to ${pool}`,
    limit: "db_client_connection_max",
    waiting: "db_client_connection_pending_requests",
    only: "used",
  },
  {
    series: "portico_db_transactions_open",
    name: (pool) => `Transactions on ${pool}`,
    limit: "portico_db_transactions_max",
    waiting: "portico_db_transactions_waiting",
  },
  {
    series: "process_unix_file_descriptor_count",
    name: () => "File descriptors",
    limit: "portico_file_descriptor_limit",
  },
];

/** The series of what is 1 while it works. */
const states: readonly (readonly [series: SeriesName, name: (label: string) => string])[] = [
  ["portico_check_up", (check) => `Check ${check}`],
  ["portico_store_up", (role) => `Store ${role}`],
  ["portico_db_replica_up", (replica) => `Replica ${replica}`],
];

/** The saturation at a glance: the faults first, then each limit with what is in use. */
export function saturationOf(figures: readonly Figure[]): readonly Saturation[] {
  const faults = states.flatMap(([series, name]) =>
    figures
      .filter((figure) => figure.series === series && figure.value === 0)
      .map(({ labels: [label = ""] }) => ({ name: name(label), value: 0, limit: 1, state: "failed" as const })),
  );
  return [...faults, ...rows.flatMap((row) => limitsOf(row, figures)), ...eventLoopDelay(figures)];
}

function limitsOf({ series, name, limit, waiting, only }: Declared, figures: readonly Figure[]): readonly Saturation[] {
  const valueOf = (wanted: SeriesName, label: string | undefined): number | null => {
    const value = figures.find((figure) => figure.series === wanted && figure.labels[0] === label)?.value;
    return typeof value === "number" ? value : null;
  };
  return figures
    .filter((figure) => figure.series === series && (only === undefined || figure.labels[1] === only))
    .flatMap(({ labels: [label], value }) => {
      if (typeof value !== "number" || !Number.isFinite(value)) return [];
      const most = typeof limit === "string" ? valueOf(limit, label) : (limit ?? null);
      const isWaiting = waiting !== undefined && (valueOf(waiting, label) ?? 0) > 0;
      // One transaction or writer at a time is normal, so a small limit is only full when callers wait for it.
      const isHigh = most !== null && most !== 1 && value >= most * HIGH;
      const isBusy = series === "nodejs_eventloop_utilization_ratio" && value >= HIGH;
      return [{ name: name(label ?? ""), value, limit: most, state: isWaiting || isHigh || isBusy ? "high" : "ok" }];
    });
}

function eventLoopDelay(figures: readonly Figure[]): readonly Saturation[] {
  const delay = figures.find(({ series }) => series === "nodejs_eventloop_delay_p99_seconds")?.value;
  // Without a sample there is no percentile.
  if (typeof delay !== "number" || !Number.isFinite(delay)) return [];
  const value = Math.round(delay * 1000);
  return [{ name: "Loop delay p99 (ms)", value, limit: null, state: value >= LATE_MS ? "high" : "ok" }];
}
