import type { CounterStore } from "./counter-store.ts";
import type { KeyValueStore } from "./key-value-store.ts";
import { MemoryCounter } from "./memory-counter.ts";
import { MemoryKeyValue } from "./memory-key-value.ts";
import { MemoryPubSub } from "./memory-pub-sub.ts";
import type { PubSub } from "./pub-sub.ts";

/**
 * The state that an application keeps outside its requests, in three roles that are configured separately.
 *
 * @example
 * ```ts
 * import { type CounterStore, memoryStores, type Stores } from "portico";
 *
 * function withCounters(counters: CounterStore): Stores {
 *   return { ...memoryStores(), counters };
 * }
 * ```
 */
export interface Stores {
  /** Data that must not be lost: sessions, refresh token families, keys. */
  readonly durable: KeyValueStore;
  /** The counters behind rate limits. */
  readonly counters: CounterStore;
  /** Events between processes. */
  readonly bus: PubSub;
}

/**
 * The three roles in the memory of this process, for development, tests and single-process applications. Each call returns new,
 * empty stores; their content is lost when the process exits.
 *
 * @example
 * ```ts
 * import { memoryStores } from "portico";
 *
 * const { durable } = memoryStores();
 * await durable.set("greeting", "hello", 60_000);
 * await durable.get("greeting"); // "hello", for a minute
 * ```
 */
export function memoryStores(): Stores {
  return { durable: new MemoryKeyValue(), counters: new MemoryCounter(), bus: new MemoryPubSub() };
}
