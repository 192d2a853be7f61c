import type { Figure, Part } from "../core/parts/parts.ts";
import { outboxOf } from "./outbox.ts";
import type { Stores } from "./stores.ts";

/** The state of the stores of an application. */
export class StoresPart implements Part {
  readonly #stores: Stores;
  readonly #hasFailed: (role: string) => boolean;

  /** @param hasFailed whether the last check of a role failed */
  constructor(stores: Stores, hasFailed: (role: string) => boolean) {
    this.#stores = stores;
    this.#hasFailed = hasFailed;
  }

  *figures(): Iterable<Figure> {
    const { durable, counters, bus } = this.#stores;
    // A bus without subscribers may not have connected yet.
    const isIdle = bus.topicCount === 0 && bus.check === undefined;
    yield this.#state("durable", durable);
    yield this.#state("counters", counters);
    yield this.#state("bus", isIdle ? {} : bus);
    if (bus.topicCount !== undefined) yield { series: "portico_bus_topics", labels: [], value: bus.topicCount };
    if (bus.waitingCount !== undefined)
      yield { series: "portico_bus_waiting_events", labels: [], value: bus.waitingCount };
    yield* outboxOf(bus)?.figures() ?? [];
  }

  #state(role: keyof Stores, { isConnected }: { readonly isConnected?: boolean }): Figure {
    const isUp = isConnected !== false && !this.#hasFailed(role);
    return { series: "portico_store_up", labels: [role], value: isUp ? 1 : 0 };
  }
}
