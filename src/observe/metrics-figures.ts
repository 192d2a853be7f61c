import type { ErrorFigures } from "./errors-by-code.ts";
import type { Percentiles, TotalsRecord } from "./running-totals.ts";
import type { Saturation } from "./saturation.ts";

/** The totals of all operations with one name. */
export interface MetricsRecord extends TotalsRecord {
  /** The average over operations whose cost was measured, so without those that were rejected earlier. */
  readonly average_cost: number;
}

/** The totals of all operations with one name, and percentiles of their durations. */
export interface OperationFigures extends MetricsRecord, Percentiles {}

/** The totals of one route. */
export interface RouteFigures extends TotalsRecord, Percentiles {
  /** The number of responses with a status from 400 to 499. */
  readonly refused: number;
  /** The number of sockets that are open now. */
  readonly open_sockets: number;
}

/** Everything that a `Metrics` has counted. */
export interface MetricsFigures {
  /** By operation name. */
  readonly operations: Readonly<Record<string, OperationFigures>>;
  /** By method and path pattern, such as `GET /books/:id` and `SOCKET /live`. Requests without a route share `<none>`. */
  readonly routes: Readonly<Record<string, RouteFigures>>;
  /** By code: the errors of operations, and the responses of routes with a status of 500 or higher. */
  readonly errors: {
    readonly operations: Readonly<Record<string, ErrorFigures>>;
    readonly routes: Readonly<Record<string, ErrorFigures>>;
  };
  /** The use of the limits, queues and pools of the applications that it is a hook of, and all faults. */
  readonly saturation: readonly Saturation[];
}
