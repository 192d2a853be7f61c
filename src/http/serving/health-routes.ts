import type { MaybePromise } from "../../core/maybe-promise.ts";
import { optional, optionRule, resolveOptions } from "../../core/resolve-options.ts";
import { within } from "../../core/within.ts";
import type { PorticoResponse } from "../context/portico-response.ts";
import { declareRoute, type Route } from "../routing/route.ts";
import type { ServerState } from "./server.ts";

/** A check of something the process depends on: returns if it works, throws if it does not. */
export type HealthCheck = () => MaybePromise<unknown>;

/** The paths of the health routes, and the checks for readiness. */
export interface HealthOptions {
  /** Returns 200 while the event loop turns. @default "/livez" */
  readonly live?: string;
  /** Returns 200 while the process can serve requests, otherwise 503. @default "/readyz" */
  readonly ready?: string;
  /** Run in parallel on every readiness request, each for at most two seconds. @default none */
  readonly checks?: Readonly<Record<string, HealthCheck>>;
}

const path = optionRule<string>(
  'a path that begins with "/"',
  (value) => typeof value === "string" && value.startsWith("/"),
);

const healthRules = {
  live: optional(path, "/livez"),
  ready: optional(path, "/readyz"),
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

const PATIENCE_MS = 2_000;

export function readHealthOptions(options: HealthOptions): Required<HealthOptions> {
  return resolveOptions("PorticoApp.health", options, healthRules);
}

/** The state that readiness depends on besides the checks. */
export interface Readiness {
  readonly state: ServerState;
  readonly isOverloaded: boolean;
}

/** The two health routes. No middleware runs for them. */
export function healthRoutes(options: Required<HealthOptions>, server: Readiness): readonly Route[] {
  const listed = { openapi: false, cost: 0 };
  return [
    declareRoute("GET", options.live, listed, () => ({ status: "alive" })),
    declareRoute("GET", options.ready, listed, async ({ response }: { readonly response: PorticoResponse }) => {
      const checks = await runChecks(options.checks);
      const isReady =
        server.state === "open" && !server.isOverloaded && Object.values(checks).every((result) => result === "ok");
      return response
        .status(isReady ? 200 : 503)
        .header("cache-control", "no-store")
        .json({ status: isReady ? "ready" : "not ready", checks });
    }),
  ];
}

/** Runs the checks. The result names the ones that failed but not why, because anyone may read it. */
async function runChecks(
  checks: Readonly<Record<string, HealthCheck>>,
): Promise<Readonly<Record<string, "ok" | "failed">>> {
  const results = Object.entries(checks).map(async ([name, check]) => {
    try {
      await within(PATIENCE_MS, Promise.resolve(check()));
      return [name, "ok"] as const;
    } catch {
      return [name, "failed"] as const;
    }
  });
  return Object.fromEntries(await Promise.all(results));
}
