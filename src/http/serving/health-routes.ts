import { optional, optionRule, resolveOptions, urlPath } from "../../core/resolve-options.ts";
import type { PorticoResponse } from "../../kernel/context/portico-response.ts";
import { declareRoute, type Route } from "../routing/route.ts";

import type { HealthCheck, HealthChecks } from "./health-checks.ts";
import type { ServerState } from "./server.ts";

/** The paths of the health routes, and the checks for readiness. */
export interface HealthOptions {
  /** Returns 200 while the event loop turns. @default "/livez" */
  readonly live?: string;
  /** Returns 200 while the process can serve requests, otherwise 503. @default "/readyz" */
  readonly ready?: string;
  /**
   * Run in parallel for a readiness request, each for at most two seconds. Requests that arrive meanwhile share the result, and
   * a check that has not ended fails for ten seconds before it is called again. @default none
   */
  readonly checks?: Readonly<Record<string, HealthCheck>>;
}

const healthRules = {
  live: optional(urlPath, "/livez"),
  ready: optional(urlPath, "/readyz"),
  checks: optional(
    optionRule<Readonly<Record<string, HealthCheck>>>(
      "an object of functions",
      (value) =>
        typeof value === "object" &&
        value !== null &&
        Object.values(value).every((check) => typeof check === "function"),
    ),
    {},
  ),
};

export function readHealthOptions(options: HealthOptions): Required<HealthOptions> {
  return resolveOptions("PorticoApp.health", options, healthRules);
}

/** The state that readiness depends on besides the checks. */
export interface Readiness {
  readonly state: ServerState;
  readonly isOverloaded: boolean;
}

/**
 * The two health routes. No middleware runs for them.
 *
 * @param faults the names of faults that this process sees by itself
 */
export function healthRoutes(
  { live, ready }: Pick<Required<HealthOptions>, "live" | "ready">,
  server: Readiness,
  checks: HealthChecks,
  faults: () => readonly string[],
): readonly Route[] {
  const listed = { openapi: false, cost: 0 };
  return [
    declareRoute("GET", live, listed, () => ({ status: "alive" })),
    declareRoute("GET", ready, listed, async ({ response }: { readonly response: PorticoResponse }) => {
      const results = await checks.run();
      const failed = faults();
      const isReady = server.state === "open" && !server.isOverloaded && checks.isReady(results) && failed.length === 0;
      return response
        .status(isReady ? 200 : 503)
        .header("cache-control", "no-store")
        .json({
          status: isReady ? "ready" : "not ready",
          checks: { ...results, ...Object.fromEntries(failed.map((name) => [name, "failed"])) },
        });
    }),
  ];
}
