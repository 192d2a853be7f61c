/** A query of a panel. */
interface Query {
  readonly expr: string;
  readonly legend: string;
}

/** One panel of the dashboard. */
export interface Panel {
  readonly title: string;
  readonly help: string;
  /** A unit of Grafana. */
  readonly unit: "short" | "s" | "percentunit" | "bytes" | "reqps" | "ops";
  readonly queries: readonly Query[];
}

const of = (series: string): string => `${series}{job="$job",instance=~"$instance"}`;
const rate = (series: string): string => `rate(${of(series)}[$__rate_interval])`;
const quantile = (share: number, series: string, by: string): string =>
  `histogram_quantile(${share}, sum by (${by}) (${rate(`${series}_bucket`)}))`;

/** The panels, in rows. Together they show every series that an application exposes. */
export const rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[] = [
  {
    title: "Requests",
    panels: [
      {
        title: "Responses",
        help: "Responses per second, by status.",
        unit: "reqps",
        queries: [
          { expr: `sum by (status) (${rate("portico_http_request_duration_seconds_count")})`, legend: "{{status}}" },
        ],
      },
      {
        title: "Duration of requests",
        help: "The time within which half and 99 % of the requests ended.",
        unit: "s",
        queries: [
          { expr: quantile(0.5, "portico_http_request_duration_seconds", "le"), legend: "p50" },
          { expr: quantile(0.99, "portico_http_request_duration_seconds", "le"), legend: "p99" },
        ],
      },
      {
        title: "Reasons of 503",
        help: "Responses with status 503 per second, by error code. OVERLOADED is load shedding; see the list of errors for the others.",
        unit: "reqps",
        queries: [{ expr: `sum by (reason) (${rate("portico_unavailable_responses_total")})`, legend: "{{reason}}" }],
      },
      {
        title: "GraphQL operations",
        help: "Operations per second, and those whose response had errors.",
        unit: "ops",
        queries: [
          {
            expr: `sum by (type) (${rate("portico_graphql_operation_duration_seconds_count")})`,
            legend: "{{type}}",
          },
          { expr: `sum(${rate("portico_graphql_operation_errors_total")})`, legend: "with errors" },
        ],
      },
    ],
  },
  {
    title: "Saturation",
    panels: [
      {
        title: "Requests in flight",
        help: "Requests in flight and the present limit. A limit below its maximum means that the process is shedding load.",
        unit: "short",
        queries: [
          { expr: of("http_server_active_requests"), legend: "in flight {{instance}}" },
          { expr: of("portico_load_waiting_requests"), legend: "waiting {{instance}}" },
          { expr: of("portico_load_arriving_bodies"), legend: "bodies {{instance}}" },
          { expr: `${of("portico_load_limit")} < ${of("portico_load_limit_max")}`, legend: "limit {{instance}}" },
        ],
      },
      {
        title: "Event loop delay",
        help: "How late timers fire. All requests of the process wait for as long.",
        unit: "s",
        queries: [
          { expr: of("nodejs_eventloop_delay_mean_seconds"), legend: "mean {{instance}}" },
          { expr: of("nodejs_eventloop_delay_p99_seconds"), legend: "p99 {{instance}}" },
          { expr: of("nodejs_eventloop_delay_max_seconds"), legend: "max {{instance}}" },
        ],
      },
      {
        title: "Event loop utilization",
        help: "The share of the time that the event loop was busy. At 1 the process has no time left.",
        unit: "percentunit",
        queries: [{ expr: of("nodejs_eventloop_utilization_ratio"), legend: "{{instance}}" }],
      },
      {
        title: "Memory",
        help: "The physical memory of each process.",
        unit: "bytes",
        queries: [{ expr: of("process_memory_usage_bytes"), legend: "{{instance}}" }],
      },
      {
        title: "File descriptors",
        help: "The share of the limit that is in use, and the seconds in which none was left.",
        unit: "percentunit",
        queries: [
          {
            expr: `${of("process_unix_file_descriptor_count")} / ${of("portico_file_descriptor_limit")}`,
            legend: "in use {{instance}}",
          },
          { expr: rate("portico_file_descriptors_exhausted_total"), legend: "exhausted {{instance}}" },
        ],
      },
      {
        title: "Log lines that could not be written",
        help: "Dropped lines per second, and bytes that wait.",
        unit: "short",
        queries: [
          { expr: rate("portico_log_lines_dropped_total"), legend: "dropped/s {{instance}}" },
          { expr: of("portico_log_waiting_bytes"), legend: "waiting bytes {{instance}}" },
        ],
      },
    ],
  },
  {
    title: "Database",
    panels: [
      {
        title: "Connections of each pool",
        help: "Connections by state, and their maximum.",
        unit: "short",
        queries: [
          {
            expr: of("db_client_connection_count"),
            legend: "{{db_client_connection_pool_name}} {{db_client_connection_state}}",
          },
          { expr: of("db_client_connection_max"), legend: "{{db_client_connection_pool_name}} max" },
        ],
      },
      {
        title: "Waiting for a connection",
        help: "Callers that wait, those that got no connection per second, and the time within which 99 % got one, in seconds.",
        unit: "short",
        queries: [
          { expr: of("db_client_connection_pending_requests"), legend: "waiting {{db_client_connection_pool_name}}" },
          { expr: rate("db_client_connection_timeouts_total"), legend: "failed/s {{db_client_connection_pool_name}}" },
          {
            expr: quantile(0.99, "db_client_connection_wait_time_seconds", "le, db_client_connection_pool_name"),
            legend: "p99 seconds {{db_client_connection_pool_name}}",
          },
        ],
      },
      {
        title: "Transactions",
        help: "Open transactions, their maximum, and callers that wait for one.",
        unit: "short",
        queries: [
          { expr: of("portico_db_transactions_open"), legend: "open {{db_client_connection_pool_name}}" },
          { expr: of("portico_db_transactions_max"), legend: "max {{db_client_connection_pool_name}}" },
          { expr: of("portico_db_transactions_waiting"), legend: "waiting {{db_client_connection_pool_name}}" },
        ],
      },
      {
        title: "Statements",
        help: "The time within which 99 % of the statements ended.",
        unit: "s",
        queries: [
          { expr: quantile(0.99, "portico_sql_statement_duration_seconds", "le, statement"), legend: "{{statement}}" },
        ],
      },
      {
        title: "Replicas",
        help: "Whether each replica is in use, and how far it is behind, in megabytes.",
        unit: "short",
        queries: [
          { expr: of("portico_db_replica_up"), legend: "up {{replica}}" },
          { expr: `${of("portico_db_replica_lag_bytes")} / 1e6`, legend: "MB behind {{replica}}" },
        ],
      },
    ],
  },
  {
    title: "Stores, bus and connections",
    panels: [
      {
        title: "Readiness checks",
        help: "1 if the last check passed.",
        unit: "short",
        queries: [{ expr: `min by (check) (${of("portico_check_up")})`, legend: "{{check}}" }],
      },
      {
        title: "Stores",
        help: "1 while the store of a role is connected.",
        unit: "short",
        queries: [{ expr: `min by (role) (${of("portico_store_up")})`, legend: "{{role}}" }],
      },
      {
        title: "Bus",
        help: "Topics with subscribers, and events that wait.",
        unit: "short",
        queries: [
          { expr: of("portico_bus_topics"), legend: "topics {{instance}}" },
          { expr: of("portico_bus_waiting_events"), legend: "waiting {{instance}}" },
        ],
      },
      {
        title: "Outbox",
        help: "How long events wait for open transactions, and the age of the oldest of those.",
        unit: "s",
        queries: [
          { expr: of("portico_outbox_lag_seconds"), legend: "lag {{instance}}" },
          { expr: of("portico_outbox_oldest_write_seconds"), legend: "oldest write {{instance}}" },
        ],
      },
      {
        title: "Kept events and consumers",
        help: "Size of the kept events, and failures of consumers per second.",
        unit: "short",
        queries: [
          { expr: of("portico_outbox_bytes"), legend: "bytes {{instance}}" },
          { expr: `rate(${of("portico_consumer_failures_total")}[1m])`, legend: "failures {{consumer}}" },
        ],
      },
      {
        title: "Connections of clients",
        help: "TCP connections, WebSockets by route, and all live connections with those that wait for a check of their credential.",
        unit: "short",
        queries: [
          { expr: of("portico_connections_open"), legend: "TCP {{instance}}" },
          { expr: `sum by (route) (${of("portico_sockets_open")})`, legend: "{{route}}" },
          { expr: of("portico_live_connections"), legend: "live {{instance}}" },
          { expr: of("portico_live_connections_unchecked"), legend: "unchecked {{instance}}" },
        ],
      },
      {
        title: "Work after responses",
        help: "Emails and other work that goes on after its response.",
        unit: "short",
        queries: [{ expr: of("portico_later_work"), legend: "{{instance}}" }],
      },
    ],
  },
];
