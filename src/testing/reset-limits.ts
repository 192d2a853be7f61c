import type { PorticoApp } from "../portico-app.ts";

/**
 * Resets all rate limits of the application, which are on in tests too. It clears `stores.counters`, so it also affects
 * everything that shares the store, such as another process with the same Redis prefix. Rejects if the store has no
 * `resetAll` or is unavailable.
 *
 * @example
 * ```ts
 * import { PorticoApp, rateLimit } from "portico";
 * import { resetLimits, testClient } from "portico/testing";
 *
 * const app = new PorticoApp({ logger: false }).get("/", { middleware: [rateLimit({ perHour: 1 })] }, () => "hello");
 * await testClient(app).get("/");
 * await resetLimits(app);
 * console.log((await testClient(app).get("/")).status); // 200
 * ```
 */
export async function resetLimits(app: PorticoApp): Promise<void> {
  const { counters } = app.stores;
  if (counters.resetAll === undefined)
    throw new Error("resetLimits requires a counter store with resetAll(), which this application does not have");
  await counters.resetAll();
}
