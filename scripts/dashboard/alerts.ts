/** One alert rule of Prometheus. */
export interface Alert {
  readonly name: string;
  readonly expr: string;
  /** How long the expression must hold. */
  readonly hold: string;
  readonly severity: "critical" | "warning";
  readonly summary: string;
}

export const alerts: readonly Alert[] = [
  {
    name: "PorticoCheckFailing",
    expr: "portico_check_up == 0",
    hold: "1m",
    severity: "critical",
    summary: "The readiness check {{ $labels.check }} of {{ $labels.instance }} fails",
  },
  {
    name: "PorticoStoreDown",
    expr: "portico_store_up == 0",
    hold: "1m",
    severity: "critical",
    summary: "{{ $labels.instance }} has no connection to its {{ $labels.role }} store",
  },
  {
    name: "PorticoUnavailableResponses",
    expr: "sum by (job, reason) (rate(portico_unavailable_responses_total[5m])) > 0.01 * scalar(sum(rate(portico_http_request_duration_seconds_count[5m])))",
    hold: "5m",
    severity: "critical",
    summary: "More than 1 % of the responses are 503 with the reason {{ $labels.reason }}",
  },
  {
    name: "PorticoShedding",
    expr: "portico_load_limit < portico_load_limit_max",
    hold: "5m",
    severity: "warning",
    summary: "{{ $labels.instance }} has lowered its limit of requests in flight to {{ $value }}",
  },
  {
    name: "PorticoEventLoopBlocked",
    expr: "nodejs_eventloop_delay_p99_seconds > 0.5",
    hold: "2m",
    severity: "warning",
    summary: "Timers of {{ $labels.instance }} fire {{ $value }} s late",
  },
  {
    name: "PorticoPoolExhausted",
    expr: "db_client_connection_pending_requests > 0",
    hold: "2m",
    severity: "warning",
    summary:
      "{{ $value }} callers of {{ $labels.instance }} wait for a connection to {{ $labels.db_client_connection_pool_name }}",
  },
  {
    name: "PorticoTransactionsWaiting",
    expr: "portico_db_transactions_waiting > 0",
    hold: "2m",
    severity: "warning",
    summary:
      "{{ $value }} callers of {{ $labels.instance }} wait for a transaction on {{ $labels.db_client_connection_pool_name }}",
  },
  {
    name: "PorticoReplicaLeftOut",
    expr: "portico_db_replica_up == 0",
    hold: "2m",
    severity: "warning",
    summary: "{{ $labels.instance }} does not read from the replica {{ $labels.replica }}",
  },
  {
    name: "PorticoFewDescriptors",
    expr: "process_unix_file_descriptor_count > 0.9 * portico_file_descriptor_limit or increase(portico_file_descriptors_exhausted_total[5m]) > 0",
    hold: "1m",
    severity: "critical",
    summary: "{{ $labels.instance }} has hardly any file descriptors left",
  },
  {
    name: "PorticoLogLinesDropped",
    expr: "increase(portico_log_lines_dropped_total[5m]) > 0",
    hold: "0m",
    severity: "warning",
    summary: "{{ $labels.instance }} could not write {{ $value }} log lines",
  },
  {
    name: "PorticoBusBehind",
    expr: "portico_bus_waiting_events > 5000",
    hold: "1m",
    severity: "warning",
    summary: "{{ $value }} events wait for subscribers in {{ $labels.instance }}",
  },
  {
    name: "PorticoOutboxDelayed",
    expr: "portico_outbox_lag_seconds > 10",
    hold: "30s",
    severity: "warning",
    summary: "events have been waiting for {{ $value }} s for an open write transaction; portico doctor names it",
  },
];
