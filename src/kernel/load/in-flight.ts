import { FeatureSlot } from "../../core/feature-slot.ts";
import { addressBucket } from "../exchange/address-bucket.ts";
import type { BodyWatcher } from "../exchange/exchange.ts";
import type { Load } from "./load.ts";

/**
 * One request in the load of the process. It is in flight from its context to its response, except while its body arrives,
 * because a slow client keeps nothing busy.
 */
export class InFlight implements BodyWatcher {
  readonly #load: Load;
  /** The address that the body arrives from. */
  #sender: string | null = null;
  #hasLeft = false;

  constructor(load: Load) {
    this.#load = load;
    load.enter();
  }

  get isArriving(): boolean {
    return this.#sender !== null;
  }

  bodyBegins(ip: string): void {
    const sender = addressBucket(ip);
    this.#load.bodyBegins(sender);
    this.#sender = sender;
    if (!this.#hasLeft) this.#load.leave();
  }

  bodyEnds(): void {
    if (this.#sender === null) return;
    this.#load.bodyEnds(this.#sender);
    this.#sender = null;
    if (!this.#hasLeft) this.#load.enter();
  }

  /** The response is being sent. */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    if (this.#sender === null) this.#load.leave();
  }
}

/** The request of a context in the load; `null` on a socket. */
export const inFlightOf: FeatureSlot<InFlight | null> = new FeatureSlot<InFlight | null>(null);
