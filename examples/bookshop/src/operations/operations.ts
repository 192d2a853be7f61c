import { Router } from "portico";
import { Metrics, type OperationHook, OperationLog, operationsPage, prometheus } from "portico/graphql";
import { whoMay } from "../accounts/user.ts";

/** What is known of the operations of one process. */
export interface Operations {
  /** To be told of every operation. */
  readonly hooks: readonly OperationHook[];
  /** The routes below /operations: a page, its figures, and the same for Prometheus. Admins see them, and nobody else. */
  readonly routes: Router;
}

export function operations(): Operations {
  const metrics = new Metrics();
  const histogram = prometheus();
  const auth = whoMay("read:metrics");

  const routes = new Router();
  routes.mount("/page", operationsPage(metrics, { auth }));
  routes.get("/metrics", { auth, summary: "Operations by name", tags: ["operations"] }, () => metrics.snapshot());
  routes.get("/prometheus", { auth, summary: "The same for Prometheus", tags: ["operations"] }, ({ response }) =>
    response.header("content-type", histogram.contentType).text(histogram.text()),
  );
  return { hooks: [metrics, histogram, new OperationLog({ slowerThan: 0.5 })], routes };
}
