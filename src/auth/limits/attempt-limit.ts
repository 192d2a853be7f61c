import type { BaseContext } from "../../kernel/context/http-context.ts";
import { TooManyRequests } from "../../kernel/exceptions/http-exception.ts";
import { GuardedCounter } from "../../kernel/limits/guarded-counter.ts";
import type { CounterStore, Reservation } from "../../stores/counter-store.ts";
import { sha256 } from "../records/sha256.ts";

/** The number of attempts allowed in a window. */
export interface AttemptLimit {
  readonly limit: number;
  readonly windowSeconds: number;
}

/** One limit and the caller, account or address whose attempts it counts. */
export interface CountedAttempt extends AttemptLimit {
  /** The name of the limit. */
  readonly name: string;
  readonly whose: string;
}

/** One guard per store, because one store can fail while another works. */
const counters = new WeakMap<CounterStore, GuardedCounter>();

/**
 * Counts an attempt against each limit in order, and throws 429 at the first one exceeded. Later limits are then not
 * counted, so a caller rejected by IP address cannot lock another user's account.
 *
 * @param granted receives each reservation, with which the attempt can be refunded
 */
export async function countAttempt(
  ctx: BaseContext,
  attempts: readonly CountedAttempt[],
  granted: (reservation: Reservation) => unknown = () => {},
): Promise<void> {
  for (const attempt of attempts) {
    const reservation = await reserveAttempt(ctx, attempt);
    if (!reservation.isGranted) throw new TooManyRequests(Math.max(1, Math.ceil(reservation.resetAfterMs / 1000)));
    granted(reservation);
  }
}

/** Counts an attempt if the limit allows it. */
export function reserveAttempt(ctx: BaseContext, attempt: CountedAttempt): Promise<Reservation> {
  const { services } = ctx;
  const { counters: store } = services.stores;
  const { limit, windowSeconds } = attempt;
  const reserved = { key: keyOf(attempt), windowMs: windowSeconds * 1000, units: 1, limit };
  return guarded(store).reserve(services, store, reserved);
}

/** Takes an attempt back after the response. A refund that fails is lost until the end of the window. */
export function refundAttempt(ctx: BaseContext, reservation: Reservation): void {
  const { services } = ctx;
  services.laterWork.add(reservation.refund(1).catch(() => {}));
}

/** Resets the count of this limit. */
export async function forgetAttempts(ctx: BaseContext, attempt: CountedAttempt): Promise<void> {
  const { services } = ctx;
  const { counters: store } = services.stores;
  await guarded(store).reset(services, store, keyOf(attempt), attempt.windowSeconds * 1000);
}

function guarded(store: CounterStore): GuardedCounter {
  const counter = counters.get(store) ?? new GuardedCounter("accounts");
  counters.set(store, counter);
  return counter;
}

/** Hashes the identifier, which may have any length and must not be readable in the counter store. */
function keyOf({ name, whose, limit }: CountedAttempt): string {
  return `attempts:${name}:${limit}:${sha256(whose)}`;
}
