import type { Logger } from "../core/logger.ts";
import type { StoreLifeCycle } from "./store-life-cycle.ts";
import type { Stores } from "./stores.ts";

/** Starts the stores; when one of them does not start, none is left open. */
export async function startStores(stores: Stores, log: Logger): Promise<void> {
  const starts = await Promise.allSettled(distinct(stores).map(async (store) => store.start?.(log)));
  const failed = starts.find((start) => start.status === "rejected");
  if (failed === undefined) return;
  await closeStores(stores);
  throw failed.reason;
}

/** Closes the stores, all of them also when one fails. */
export async function closeStores(stores: Stores): Promise<void> {
  const ends = await Promise.allSettled(distinct(stores).map(async (store) => store.close?.()));
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** The checks of the stores that have one, by role. */
export function storeChecks({ durable, counters, bus }: Stores): Readonly<Record<string, () => Promise<void>>> {
  const roles: readonly (readonly [string, StoreLifeCycle])[] = Object.entries({ durable, counters, bus });
  return Object.fromEntries(
    roles.flatMap(([role, store]) => (store.check === undefined ? [] : [[role, async () => store.check?.()] as const])),
  );
}

/** One store may have several roles. */
function distinct({ durable, counters, bus }: Stores): readonly StoreLifeCycle[] {
  return [...new Set<StoreLifeCycle>([durable, counters, bus])];
}
