import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import type { StoreLifeCycle } from "./store-life-cycle.ts";
import { checkClock } from "./store-time.ts";
import type { Stores } from "./stores.ts";

/** Starts the stores. If one of them does not start, or the clocks differ, all of them are closed again. */
export async function startStores(stores: Stores, log: Logger, clock: Clock): Promise<void> {
  const starts = await Promise.allSettled(distinct(stores).map(async (store) => store.start?.(log)));
  try {
    for (const start of starts) if (start.status === "rejected") throw start.reason;
    await checkClock(stores.durable, clock);
  } catch (error) {
    await closeStores(stores);
    throw error;
  }
}

/** Closes all stores, even if one fails. */
export async function closeStores(stores: Stores): Promise<void> {
  const ends = await Promise.allSettled(distinct(stores).map(async (store) => store.close?.()));
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** The health checks of the stores, by role. The check of the durable role also compares the clocks. */
export function storeChecks(
  { durable, counters, bus }: Stores,
  clock: Clock,
): Readonly<Record<string, () => Promise<void>>> {
  const durableCheck = async (): Promise<void> => {
    await durable.check?.();
    await checkClock(durable, clock);
  };
  const roles: readonly (readonly [string, StoreLifeCycle])[] = Object.entries({
    durable: durable.check === undefined ? {} : { check: durableCheck },
    counters,
    bus,
  });
  return Object.fromEntries(
    roles.flatMap(([role, store]) => (store.check === undefined ? [] : [[role, async () => store.check?.()] as const])),
  );
}

/** One store may have several roles. */
function distinct({ durable, counters, bus }: Stores): readonly StoreLifeCycle[] {
  return [...new Set<StoreLifeCycle>([durable, counters, bus])];
}
