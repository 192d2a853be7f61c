import type { MaybePromise } from "../../core/maybe-promise.ts";
import { optional, resolveOptions, rule } from "../../core/resolve-options.ts";
import { within } from "../../core/within.ts";
import type { PorticoResponse } from "../context/portico-response.ts";
import { declareRoute, type Route } from "../routing/route.ts";
import type { ServerState } from "./server.ts";

/** Something that must work for the process to be useful: returns when it does, throws when it does not. */
export type HealthCheck = () => MaybePromise<unknown>;

/** Where orchestrators ask, and what readiness depends on. */
export interface HealthOptions {
  /** Answers 200 while the event loop turns. @default "/livez" */
  readonly live?: string;
  /** Answers 200 while the process can take requests, else 503. @default "/readyz" */
  readonly ready?: string;
  /** Asked on every readiness request, at once, each for at most two seconds. */
  readonly checks?: Readonly<Record<string, HealthCheck>>;
}

const path = rule<string>('a path that begins with "/"', (value) => typeof value === "string" && value.startsWith("/"));

const healthRules = {
  live: optional(path, "/livez"),
  ready: optional(path, "/readyz"),
  checks: optional(
    rule<Readonly<Record<string, HealthCheck>>>(
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

/** What readiness looks at beside the checks. */
export interface Readiness {
  readonly state: ServerState;
  readonly isOverloaded: boolean;
}

/** The two routes. They take part in no middleware. */
export function healthRoutes(options: Required<HealthOptions>, server: Readiness): readonly Route[] {
  const listed = { openapi: false };
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
