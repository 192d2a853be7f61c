import { AsyncLocalStorage } from "node:async_hooks";

const earliest = new AsyncLocalStorage<number>();

/**
 * Runs `work`, in which caches of users return only values that were loaded after `since`, by `performance.now()`. A cache may
 * learn of a change later than its caller does, or not at all, and must not return its old copy then.
 */
export function requireLoadedSince<T>(since: number, work: () => T): T {
  return earliest.run(since, work);
}

/** The earliest time at which a cached user may have been loaded, for the current caller. */
export function loadedSince(): number {
  return earliest.getStore() ?? Number.NEGATIVE_INFINITY;
}
