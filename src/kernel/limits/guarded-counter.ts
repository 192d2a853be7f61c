import { hash } from "node:crypto";
import { loggable } from "../../core/describe-error.ts";
import type { Count, CounterStore, Reservation } from "../../stores/counter-store.ts";
import { MemoryCounter } from "../../stores/memory-counter.ts";
import type { AppServices } from "../context/app-services.ts";

/** How long a failing store is not used before it is tried again. */
const RETRY_STORE_MS = 5_000;

/** Counts in a store, and in the memory of this process while the store fails, so that a limit always applies. */
export class GuardedCounter {
  readonly #owner: string;
  readonly #fallback = new MemoryCounter();
  #isFailingUntil = 0;

  /** @param owner whose limit it is, for the log */
  constructor(owner: string) {
    this.#owner = owner;
  }

  increment(services: AppServices, store: CounterStore, key: string, windowMs: number): Promise<Count> {
    return this.#try(services, store, (counters) => counters.increment(shortened(key), windowMs));
  }

  /** A store without `reserve` counts every hit, and refunds none. */
  reserve(
    services: AppServices,
    store: CounterStore,
    { key, windowMs, units, limit }: Record<"windowMs" | "units" | "limit", number> & { readonly key: string },
  ): Promise<Reservation> {
    return this.#try(services, store, (counters) => reserveIn(counters, shortened(key), { windowMs, units, limit }));
  }

  reset(services: AppServices, store: CounterStore, key: string, windowMs: number): Promise<void> {
    return this.#try(services, store, (counters) => counters.reset(shortened(key), windowMs));
  }

  async #try<T>(
    { clock, log }: AppServices,
    store: CounterStore,
    operation: (counters: CounterStore) => Promise<T>,
  ): Promise<T> {
    if (clock.monotonic() >= this.#isFailingUntil) {
      try {
        return await operation(store);
      } catch (err) {
        this.#isFailingUntil = clock.monotonic() + RETRY_STORE_MS;
        log.error(
          { err: loggable(err) },
          `${this.#owner}: counter store unavailable; falling back to in-process rate limiting`,
        );
      }
    }
    return operation(this.#fallback);
  }
}

async function reserveIn(
  counters: CounterStore,
  key: string,
  { windowMs, units, limit }: Record<"windowMs" | "units" | "limit", number>,
): Promise<Reservation> {
  if (counters.reserve !== undefined) return counters.reserve(key, windowMs, units, limit);
  const count = await counters.increment(key, windowMs);
  return { ...count, isGranted: count.value <= limit, refund: async () => {} };
}

/** A key may contain client input, for example from a header, and a store holds many keys. */
const MAX_KEY_LENGTH = 256;

function shortened(key: string): string {
  return key.length > MAX_KEY_LENGTH ? `long:${hash("sha256", key, "base64url")}` : key;
}
