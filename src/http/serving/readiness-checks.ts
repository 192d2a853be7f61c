import type { AppServices } from "../../kernel/context/app-services.ts";
import { storeChecks } from "../../stores/start-stores.ts";
import { writeProbe } from "../../stores/write-probe.ts";
import { objectOf } from "../routing/middleware.ts";
import type { RouteTable } from "../routing/router.ts";
import { type DeclaredCheck, type HealthCheck, HealthChecks } from "./health-checks.ts";

/** How long the result of the write probe is used again, because it writes. */
const WRITES_KEPT_MS = 1_000;

export interface ReadinessSources {
  readonly table: RouteTable;
  /** The checks of the application itself. */
  readonly given: Readonly<Record<string, HealthCheck>>;
  /** Whether the process is ready only while writes work. */
  readonly requiresWrites: boolean;
}

/** The readiness checks of an application: of its stores, of writes, of its middleware, and its own. */
export function readinessChecks(
  { stores, clock, parts, log }: Pick<AppServices, "stores" | "clock" | "parts" | "log">,
  { table, given, requiresWrites }: ReadinessSources,
): HealthChecks {
  const probe = stores.durable.check === undefined ? null : writeProbe(stores.durable);
  const writes: DeclaredCheck = {
    run: () => Promise.all([probe?.(), parts.checkWrites()]),
    isRequired: requiresWrites,
    keepMs: WRITES_KEPT_MS,
    isLeftOut: () => probe === null && !parts.hasWritten,
  };
  return new HealthChecks(
    { ...required(storeChecks(stores, clock)), writes, ...middlewareChecks(table), ...required(given) },
    clock,
    log,
  );
}

function required(checks: Readonly<Record<string, HealthCheck>>): Readonly<Record<string, DeclaredCheck>> {
  return Object.fromEntries(Object.entries(checks).map(([name, run]) => [name, { run, isRequired: true }]));
}

function middlewareChecks({ middleware, routes, sockets }: RouteTable): Readonly<Record<string, DeclaredCheck>> {
  const all = new Set([middleware, ...[...routes, ...sockets].map((route) => route.middleware)].flat());
  return Object.assign({}, ...[...all].map((one) => objectOf(one)?.checks ?? {}));
}
