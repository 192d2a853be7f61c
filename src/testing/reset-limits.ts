import type { PorticoApp } from "../portico-app.ts";

/**
 * Forgets whatever the application's limits have counted: limits are on in tests, too, and a test may begin anew. It asks the
 * application's `stores.counters` for it: all that shares them, such as a process on the same prefix in Redis, begins anew. Rejects
 * when the store has no `resetAll`, or does not answer.
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
    throw new Error("resetLimits needs counters with resetAll(), and those of this application have none");
  await counters.resetAll();
}
