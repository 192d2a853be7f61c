import { isProduction } from "../../../core/env.ts";
import type { PorticoApp } from "../../../portico-app.ts";
import { MemoryKeyValue } from "../../../stores/memory-key-value.ts";
import { startStores, storeChecks } from "../../../stores/start-stores.ts";
import { attempt, type Finding, ok, warning } from "./finding.ts";
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

async function startAndCheck({ stores, settings: { clock } }: PorticoApp): Promise<readonly Finding[]> {
  if (stores.durable instanceof MemoryKeyValue)
    return [
      isProduction()
        ? warning(
            "stores",
            "PorticoApp.stores is the memory of the process: sessions are lost when it ends, and a second process has its own. Use redisStores or sqlStores",
          )
        : ok("stores", "PorticoApp.stores is the memory of the process. Use redisStores or sqlStores in production"),
    ];
  const fix = "Check the URL of PorticoApp.stores, and that the server runs";
  const reached = await Promise.all(
    Object.entries(storeChecks(stores, clock)).map(([role, check]) =>
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
  if (reached.flat().some(({ level }) => level === "failed")) return reached.flat();
  const started = await attempt("stores", async () => {
    await startStores(stores, keptLog([]), clock);
    return [];
  });
  return [...reached.flat(), ...started];
}
