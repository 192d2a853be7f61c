import { type Clock, systemClock } from "../core/clock.ts";
import { ConfigurationError } from "../core/configuration-error.ts";
import type { KeyValueStore } from "./key-value-store.ts";

/** How far the clock of a process may be off. */
const SKEW_MS = 60_000;

/** The time that all processes agree on: the store's clock if it has one, except when the application was given a custom clock. */
export async function storeTime(store: KeyValueStore, clock: Clock): Promise<number> {
  return clock === systemClock && store.time !== undefined ? store.time() : clock.now();
}

/** Rejects if the clock of this process is more than a minute off, because it would issue and reject tokens by the wrong time. */
export async function checkClock(store: KeyValueStore, clock: Clock): Promise<void> {
  const aheadMs = clock.now() - (await storeTime(store, clock));
  if (Math.abs(aheadMs) <= SKEW_MS) return;
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  throw new ConfigurationError(
    "PorticoApp.stores.durable",
    `has a clock that is ${seconds} seconds ${aheadMs > 0 ? "behind" : "ahead of"} this process: synchronize both, for example with NTP`,
  );
}
