import { type Clock, systemClock } from "../core/clock.ts";
import { ConfigurationError } from "../core/configuration-error.ts";
import type { KeyValueStore } from "./key-value-store.ts";

/** How far the clock of a process may be off. */
const SKEW_MS = 60_000;

/**
 * The time that all processes agree on: by the clock of the store, where it has one. A clock that the application was given
 * is taken at its word.
 */
export async function storeTime(store: KeyValueStore, clock: Clock): Promise<number> {
  return clock === systemClock && store.time !== undefined ? store.time() : clock.now();
}

/** Rejects when the clock of this process is more than a minute off: it would sign and refuse tokens by a time of its own. */
export async function checkClock(store: KeyValueStore, clock: Clock): Promise<void> {
  const aheadMs = clock.now() - (await storeTime(store, clock));
  if (Math.abs(aheadMs) <= SKEW_MS) return;
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  throw new ConfigurationError(
    "PorticoApp.stores.durable",
    `has a clock that is ${seconds} seconds ${aheadMs > 0 ? "behind" : "ahead of"} this process: synchronize both, for example with NTP`,
  );
}
