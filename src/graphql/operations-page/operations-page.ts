import { ConfigurationError } from "../../core/configuration-error.ts";
import { optional, optionRule, resolveOptions } from "../../core/resolve-options.ts";
import type { Auth, RoutePlace } from "../../http/access/gate.ts";
import { authRule } from "../../http/access/read-gate.ts";
import { Router } from "../../http/routing/router.ts";
import type { Metrics } from "../hooks/metrics.ts";
import { asksForPage } from "../transport/negotiate.ts";
import { operationsHeaders, operationsHtml } from "./operations-html.ts";

/** The options of the operations page. */
export interface OperationsPageOptions {
  /** The gate of the page and of its data; `false` allows anyone who can reach the address. */
  readonly auth: Auth<RoutePlace>;
  /** How often an open page fetches the data, in seconds from 0.5 to 60. @default 2 */
  readonly refreshSeconds?: number;
}

const pageRules = {
  auth: authRule,
  refreshSeconds: optional(
    optionRule<number>(
      "a number of seconds from 0.5 to 60",
      (value) => typeof value === "number" && value >= 0.5 && value <= 60,
    ),
    2,
  ),
};

/**
 * A page that shows the busiest, slowest and most failing operations, and how they change while it is open. It displays the
 * totals of a `Metrics`, so it shows this process only. One address serves both: browsers receive the page, and clients that
 * request JSON receive `metrics.snapshot()`.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { useAuth } from "portico/auth";
 * import { Metrics, operationsPage } from "portico/graphql";
 *
 * const metrics = new Metrics();
 * const app = new PorticoApp();
 * app.mount("/operations", operationsPage(metrics, { auth: useAuth({ permissions: ["read:metrics"] }) }));
 * ```
 */
export function operationsPage(metrics: Pick<Metrics, "snapshot">, options: OperationsPageOptions): Router {
  const { auth, refreshSeconds } = resolveOptions("operationsPage", options, pageRules);
  if (auth === undefined) throw new ConfigurationError("operationsPage.auth", authRule.expected, auth);
  const page = operationsHtml(refreshSeconds);
  const route = { openapi: false, auth: auth as true };
  return new Router().get("", route, ({ request, response }) => {
    response.header("vary", "Accept");
    if (!asksForPage(request.headers["accept"]))
      return response.header("cache-control", "no-store").json(metrics.snapshot());
    for (const [name, value] of Object.entries(operationsHeaders)) response.header(name, value);
    return response.html(page);
  });
}
