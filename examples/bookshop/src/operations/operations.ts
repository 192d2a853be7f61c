import { Metrics, operationsPage, type PorticoApp, prometheus, Router } from "portico";
import { type OperationHook, OperationLog } from "portico/graphql";
import type { SentStatement } from "portico/sql";
import { whoMay } from "../accounts/who-may.ts";
import { statements } from "../database.ts";

/**
 * Counts the requests and statements of this process, and returns the hooks that count its operations. Admins see the
 * figures under /operations: on a page, as JSON, and in the format of Prometheus.
 */
export function operations(app: PorticoApp): readonly OperationHook[] {
  const metrics = new Metrics();
  const histograms = prometheus();
  const auth = whoMay("read:metrics");

  app.onRequest(metrics).onRequest(histograms);
  const count = (statement: unknown): void => histograms.onStatement(statement as SentStatement);
  statements.subscribe(count);
  app.onClose(() => statements.unsubscribe(count));

  const routes = new Router({ auth });
  routes.mount("/page", operationsPage(metrics, { auth, signInUrl: "/" }));
  routes.get("/metrics", { summary: "Metrics of operations and routes", tags: ["operations"] }, () =>
    metrics.figures(),
  );
  routes.get("/prometheus", { summary: "Metrics in the Prometheus format", tags: ["operations"] }, ({ response }) =>
    response.header("content-type", histograms.contentType).text(histograms.text()),
  );
  app.mount("/operations", routes);
  return [metrics, histograms, new OperationLog({ slowerThan: 0.5 })];
}
