import { AsyncResource } from "node:async_hooks";

/** Created while the module loads, when there is no request. */
const nowhere = new AsyncResource("PORTICO_OUTSIDE");

/**
 * Runs `work` outside the context of the current request. Use it for timers and listeners that outlive the request that starts
 * them. Otherwise they would keep that request in memory, and take it for the current one.
 */
export function outsideRequest<T>(work: () => T): T {
  return nowhere.runInAsyncScope(work);
}
