import type { PorticoApp } from "../app.ts";
import { MemoryCounter } from "../stores/memory-counter.ts";

/**
 * Forgets whatever the application's limits have counted: limits are on in tests, too, and a test may begin anew. Throws when the
 * application does not count in memory.
 *
 * @example
 * ```ts
 * import { PorticoApp, rateLimit } from "portico";
 * import { resetLimits, testClient } from "portico/testing";
 *
 * const app = new PorticoApp({ logger: false }).get("/", { middleware: [rateLimit({ perHour: 1 })] }, () => "hello");
 * await testClient(app).get("/");
 * resetLimits(app);
 * console.log((await testClient(app).get("/")).status); // 200
 * ```
 */
export function resetLimits(app: PorticoApp): void {
  const { counters } = app.stores;
  if (!(counters instanceof MemoryCounter))
    throw new Error("resetLimits is for counters in memory: give this application's tests memoryStores()");
  counters.clear();
}
