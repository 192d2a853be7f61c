import { FeatureSlot } from "../../core/feature-slot.ts";
import type { Reservation } from "../../stores/counter-store.ts";
import type { AppServices } from "../context/app-services.ts";

/** The length of the window of every budget. */
export const WINDOW_MS = 60_000;

/** The budget that an operation is charged to. */
export interface Quota {
  /** The kind of caller, which is the name of the policy in response headers. */
  readonly policy: "user" | "key" | "address";
  readonly limit: number;
}

/** One operation of a caller: the units that are reserved for it, and its place among those in flight. */
export class Charge {
  readonly startedAt: number;
  readonly #services: AppServices;
  readonly #leave: (charge: Charge) => void;
  #quota: Quota | null = null;
  #reservation: Reservation | null = null;
  #reserved = 0;
  #used = 0;

  /** @param leave frees its place */
  constructor(services: AppServices, leave: (charge: Charge) => void) {
    this.#services = services;
    this.#leave = leave;
    this.startedAt = services.clock.monotonic();
  }

  /** The store has decided about the units. */
  reserved(quota: Quota, reservation: Reservation, units: number): void {
    this.#quota = quota;
    this.#reservation = reservation;
    this.#reserved = units;
  }

  /** Sets what the operation really costs, which is never more than was reserved. It is 0 until then. */
  use(units: number): void {
    this.#used = Math.min(units, this.#reserved);
  }

  /** The operation has ended: its place is free, and the units that it did not use are refunded after the response. */
  end(): void {
    this.#leave(this);
    const unused = this.#reserved - this.#used;
    if (unused === 0 || this.#reservation === null) return;
    // A refund that fails is lost until the end of the window.
    this.#services.laterWork.add(this.#reservation.refund(unused).catch(() => {}));
    this.#reservation = { ...this.#reservation, value: Math.max(0, this.#reservation.value - unused) };
    this.#reserved = this.#used;
  }

  /** Adds the state of the budget: draft-ietf-httpapi-ratelimit-headers. */
  writeTo(headers: Record<string, string | string[]>): void {
    if (this.#quota === null || this.#reservation === null) return;
    const { policy, limit } = this.#quota;
    const { value, resetAfterMs } = this.#reservation;
    const leftMs = resetAfterMs - (this.#services.clock.monotonic() - this.startedAt);
    headers["ratelimit-policy"] = `"${policy}";q=${limit};w=${WINDOW_MS / 1000}`;
    headers["ratelimit"] = `"${policy}";r=${Math.max(0, limit - value)};t=${Math.max(0, Math.ceil(leftMs / 1000))}`;
  }
}

/** The last charge of a context to the caller's budget; `null` if there is none. */
export const chargeOf: FeatureSlot<Charge | null> = new FeatureSlot<Charge | null>(null);
