import { ConfigurationError } from "./core/configuration-error.ts";
import { environmentFault, isProduction } from "./core/env.ts";
import { needsOf } from "./http/routing/middleware.ts";
import type { RouteTable } from "./http/routing/router.ts";
import type { ProductionNeeds } from "./kernel/context/middleware-function.ts";
import type { ResolvedAppOptions } from "./portico-app-options.ts";
import { outboxOf } from "./stores/outbox.ts";
import { durableTopic } from "./stores/pub-sub.ts";

/** A reason why an application must not start. `portico doctor` prints it as the sentence of the error. */
export interface StartupFault {
  readonly check: "environment" | "public URL" | "stores" | "migrations";
  readonly option: string;
  /** The rest of the sentence that begins with the option. */
  readonly rule: string;
}

type Settings = Pick<ResolvedAppOptions, "publicUrl" | "areStoresNamed" | "budget" | "stores">;

/** Returns the reasons that are known without asking a server. Most of them apply in production only. */
export function startupFaults(settings: Settings, table: RouteTable): readonly StartupFault[] {
  const environment = environmentFault(process.env["NODE_ENV"]);
  const faults: StartupFault[] = [];
  if (environment !== null) faults.push({ check: "environment", option: "NODE_ENV", rule: environment });
  if (!isProduction()) return faults;
  const needs = needsIn(table);
  const link = needs.find(({ publicUrl }) => publicUrl !== undefined)?.publicUrl;
  if (settings.publicUrl === null && link !== undefined)
    faults.push({
      check: "public URL",
      option: "PorticoApp.publicUrl",
      rule: `is not set, but ${link} need it. Set it to the URL that users open`,
    });
  const kept = needs.find(({ stores }) => stores !== undefined)?.stores ?? (settings.budget && "budgets");
  const durable = durableTopic();
  if (durable !== null && outboxOf(settings.stores.bus) === undefined)
    faults.push({
      check: "stores",
      option: "PorticoApp.stores.bus",
      rule: `cannot keep the events of the durable topic ${durable}. Use sqlStores, or wrap the bus in outbox(database, bus)`,
    });
  if (!settings.areStoresNamed && kept !== undefined)
    faults.push({
      check: "stores",
      option: "PorticoApp.stores",
      rule: `is the memory of the process: ${kept} are lost when it ends, and a second process has its own. Use redisStores or sqlStores, or pass memoryStores() if that is intended`,
    });
  return faults;
}

/** Throws the first fault as a `ConfigurationError`. */
export function refuseFaults([fault]: readonly StartupFault[]): void {
  if (fault !== undefined) throw new ConfigurationError(fault.option, fault.rule);
}

/** Returns what asks each database for the migrations that it lacks, once per database. */
export function migrationChecks(table: RouteTable): readonly (() => Promise<readonly string[]>)[] {
  return [...new Set(needsIn(table).flatMap(({ pendingMigrations }) => pendingMigrations ?? []))];
}

/** Returns the fault of a database without these migrations. */
export function migrationFault(pending: readonly string[]): StartupFault {
  const rule = `${pending.length} migrations are pending: ${pending.join(", ")}. Run portico migrate up`;
  return { check: "migrations", option: "the database:", rule };
}

function needsIn({ middleware, routes, sockets }: RouteTable): readonly ProductionNeeds[] {
  const functions = new Set([middleware, ...[...routes, ...sockets].map((route) => route.middleware)].flat());
  return [...[...functions].map(needsOf), ...routes.flatMap(({ needs = [] }) => needs)];
}
