import { isProduction } from "../../../core/env.ts";
import type { PorticoApp } from "../../../portico-app.ts";
import { MemoryCounter } from "../../../stores/memory-counter.ts";
import { MemoryKeyValue } from "../../../stores/memory-key-value.ts";
import { MemoryPubSub } from "../../../stores/memory-pub-sub.ts";
import { startStores, storeChecks } from "../../../stores/start-stores.ts";
import { faultsOf } from "./faults-of.ts";
import { attempt, type Finding, notChecked, ok, warning } from "./finding.ts";
import { keptLog } from "./kept-log.ts";

/** Starts the stores, compares the clocks, and runs the application's own health checks. */
export async function checkStores(app: PorticoApp): Promise<readonly Finding[]> {
  const { health } = app.settings;
  const [stores, ...checks] = await Promise.all([
    startAndCheck(app),
    ...Object.entries(health === false ? {} : health.checks).map(([name, check]) =>
      attempt(
        "health",
        async () => {
          await check();
          return ok("health", `PorticoApp.health.checks.${name} passes`);
        },
        { fix: `PorticoApp.health.checks.${name} fails, so the application would not be ready` },
      ),
    ),
  ]);
  return [...stores, ...checks.flat()];
}

async function startAndCheck(app: PorticoApp): Promise<readonly Finding[]> {
  const { stores, settings } = app;
  const faults = faultsOf(app, "stores");
  if (faults.length > 0) return faults;
  const inMemory: Finding[] = stores.durable instanceof MemoryKeyValue ? [memoryFinding()] : [];
  const checks = Object.entries(storeChecks(stores, settings.clock));
  inMemory.push(...unseen(stores, new Set(checks.map(([role]) => role))));
  if (checks.length === 0) return inMemory;
  const fix = "Check the URL of PorticoApp.stores, and that the server runs";
  const reached = await Promise.all(
    checks.map(([role, check]) =>
      attempt(
        "stores",
        async () => {
          await check();
          return ok("stores", `the ${role} role passes its health check`);
        },
        { fix },
      ),
    ),
  );
  if (reached.flat().some(({ level }) => level === "failed")) return [...inMemory, ...reached.flat()];
  const started = await attempt("stores", async () => {
    const said: string[] = [];
    await startStores(stores, keptLog(said), settings.clock);
    return said.map((sentence) => warning("stores", sentence));
  });
  return [...inMemory, ...reached.flat(), ...started];
}

/** The stores of the application that have no health check. Those in the memory of the process need none. */
function unseen({ durable, counters, bus }: PorticoApp["stores"], seen: ReadonlySet<string>): readonly Finding[] {
  const inMemory = [MemoryKeyValue, MemoryCounter, MemoryPubSub];
  return Object.entries({ durable, counters, bus }).flatMap(([role, store]) =>
    seen.has(role) || inMemory.some((Memory) => store instanceof Memory)
      ? []
      : [notChecked("stores", `the ${role} role, ${store.constructor.name}, has no method check`)],
  );
}

function memoryFinding(): Finding {
  return isProduction()
    ? warning(
        "stores",
        "PorticoApp.stores is the memory of the process: sessions are lost when it ends, and a second process has its own. Use redisStores or sqlStores",
      )
    : ok("stores", "PorticoApp.stores is the memory of the process. Use redisStores or sqlStores in production");
}
