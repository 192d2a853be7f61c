/** A series that a part of the application shows in metrics. */
export interface SeriesDeclaration {
  readonly type: "gauge" | "counter" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
}

/** The names of the series. */
export type SeriesName =
  | "nodejs_eventloop_delay_mean_seconds"
  | "nodejs_eventloop_delay_p99_seconds"
  | "nodejs_eventloop_delay_max_seconds"
  | "nodejs_eventloop_utilization_ratio"
  | "process_memory_usage_bytes"
  | "process_unix_file_descriptor_count"
  | "portico_file_descriptor_limit"
  | "portico_file_descriptors_exhausted_total"
  | "portico_log_lines_dropped_total"
  | "portico_log_waiting_bytes"
  | "http_server_active_requests"
  | "portico_load_limit"
  | "portico_load_limit_max"
  | "portico_load_waiting_requests"
  | "portico_load_arriving_bodies"
  | "portico_connections_open"
  | "portico_live_connections"
  | "portico_live_connections_unchecked"
  | "portico_unavailable_responses_total"
  | "portico_later_work"
  | "portico_check_up"
  | "portico_store_up"
  | "portico_bus_topics"
  | "portico_bus_waiting_events"
  | "portico_outbox_lag_seconds"
  | "portico_outbox_oldest_write_seconds"
  | "portico_outbox_bytes"
  | "portico_consumer_failures_total"
  | "db_client_connection_count"
  | "db_client_connection_max"
  | "db_client_connection_pending_requests"
  | "db_client_connection_wait_time_seconds"
  | "db_client_connection_timeouts_total"
  | "portico_db_transactions_open"
  | "portico_db_transactions_max"
  | "portico_db_transactions_waiting"
  | "portico_db_replica_up"
  | "portico_db_replica_lag_bytes";

const declare = (type: SeriesDeclaration["type"], help: string, labels: readonly string[] = []): SeriesDeclaration => ({
  type,
  help,
  labels,
});

const POOL = ["db_client_connection_pool_name"];

/**
 * The series of the parts. Where OpenTelemetry's semantic conventions have a metric, it has that name, in the form that
 * Prometheus gives it; all others begin with `portico_`.
 */
export const seriesList: Readonly<Record<SeriesName, SeriesDeclaration>> = {
  nodejs_eventloop_delay_mean_seconds: declare(
    "gauge",
    "Mean delay of the event loop during the last 15 to 30 seconds.",
  ),
  nodejs_eventloop_delay_p99_seconds: declare("gauge", "99th percentile of the event loop delay during that time."),
  nodejs_eventloop_delay_max_seconds: declare("gauge", "Longest delay of the event loop during that time."),
  nodejs_eventloop_utilization_ratio: declare(
    "gauge",
    "Share of the time that the event loop was busy, during the last 15 to 30 seconds.",
  ),
  process_memory_usage_bytes: declare("gauge", "Physical memory of the process."),
  process_unix_file_descriptor_count: declare("gauge", "Open file descriptors of the process."),
  portico_file_descriptor_limit: declare("gauge", "The maximum number of open file descriptors."),
  portico_file_descriptors_exhausted_total: declare("counter", "Seconds in which no file descriptor could be opened."),
  portico_log_lines_dropped_total: declare("counter", "Log lines that could not be written and were dropped."),
  portico_log_waiting_bytes: declare("gauge", "Log lines that wait until they can be written."),
  http_server_active_requests: declare("gauge", "Requests in flight."),
  portico_load_limit: declare("gauge", "The present limit of requests in flight, which adapts to the load."),
  portico_load_limit_max: declare("gauge", "The highest limit of requests in flight, maxInFlight."),
  portico_load_waiting_requests: declare("gauge", "Requests that wait for their turn."),
  portico_load_arriving_bodies: declare("gauge", "Request bodies that are arriving."),
  portico_connections_open: declare("gauge", "Open TCP connections from clients."),
  portico_live_connections: declare("gauge", "Open WebSockets and event streams."),
  portico_live_connections_unchecked: declare("gauge", "Live connections that wait for a check of their credential."),
  portico_unavailable_responses_total: declare("counter", "Responses with status 503, by error code.", ["reason"]),
  portico_later_work: declare("gauge", "Work that goes on after its response, such as emails."),
  portico_check_up: declare("gauge", "Result of each readiness check: 1 if it passed, 0 if it failed.", ["check"]),
  portico_store_up: declare("gauge", "Whether the store of each role is connected, or else passed its last check.", [
    "role",
  ]),
  portico_bus_topics: declare("gauge", "Topics that this process is subscribed to."),
  portico_bus_waiting_events: declare("gauge", "Events that wait for a subscriber or for the server of the bus."),
  portico_outbox_lag_seconds: declare("gauge", "How long the oldest event waits for open transactions to end."),
  portico_outbox_oldest_write_seconds: declare(
    "gauge",
    "Age of the oldest open write transaction of the cluster, which delays events.",
  ),
  portico_outbox_bytes: declare("gauge", "Size of the events that are kept."),
  portico_consumer_failures_total: declare("counter", "Events that a consumer failed to handle.", ["consumer"]),
  db_client_connection_count: declare("gauge", "Connections of each pool, by state.", [
    ...POOL,
    "db_client_connection_state",
  ]),
  db_client_connection_max: declare("gauge", "The maximum number of connections of each pool.", POOL),
  db_client_connection_pending_requests: declare("gauge", "Callers that wait for a connection.", POOL),
  db_client_connection_wait_time_seconds: declare("histogram", "Time to obtain a connection.", POOL),
  db_client_connection_timeouts_total: declare("counter", "Callers that got no connection.", POOL),
  portico_db_transactions_open: declare("gauge", "Open transactions.", POOL),
  portico_db_transactions_max: declare("gauge", "The maximum number of open transactions.", POOL),
  portico_db_transactions_waiting: declare("gauge", "Callers that wait for a transaction.", POOL),
  portico_db_replica_up: declare("gauge", "Whether each replica is in use.", ["replica"]),
  portico_db_replica_lag_bytes: declare("gauge", "How far each replica is behind the primary.", ["replica"]),
};
