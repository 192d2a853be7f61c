import { AsyncResource } from "node:async_hooks";

/** Made when the module is loaded: there is no request then. */
const nowhere = new AsyncResource("PORTICO_OUTSIDE");

/**
 * Runs `work` as if no request was being served. For what outlives the request that happens to start it, such as a timer or
 * a listener: else that would keep the request in memory for as long as it lives, and take it for the current one.
 */
export function outside<T>(work: () => T): T {
  return nowhere.runInAsyncScope(work);
}
