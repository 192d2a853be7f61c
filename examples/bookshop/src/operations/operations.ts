import { Router } from "portico";
import { Metrics, type OperationHook, OperationLog, operationsPage, prometheus } from "portico/graphql";
import { whoMay } from "../accounts/user.ts";

/** Metrics of this process's operations. */
export interface Operations {
  /** A hook that records every operation. */
  readonly hooks: readonly OperationHook[];
  /** The routes under /operations: a page, its figures, and metrics for Prometheus. Only admins can see them. */
  readonly routes: Router;
}

export function operations(): Operations {
  const metrics = new Metrics();
  const histogram = prometheus();
  const auth = whoMay("read:metrics");

  const routes = new Router({ auth });
  routes.mount("/page", operationsPage(metrics, { auth }));
  routes.get("/metrics", { summary: "Metrics of operations by name", tags: ["operations"] }, () => metrics.snapshot());
  routes.get("/prometheus", { summary: "Metrics in the Prometheus format", tags: ["operations"] }, ({ response }) =>
    response.header("content-type", histogram.contentType).text(histogram.text()),
  );
  return { hooks: [metrics, histogram, new OperationLog({ slowerThan: 0.5 })], routes };
}
