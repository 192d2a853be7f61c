import type { BaseContext } from "../../http/context/http-context.ts";
import { TooManyRequests } from "../../http/exceptions/http-exception.ts";
import { GuardedCounter } from "../../http/limits/guarded-counter.ts";
import type { CounterStore } from "../../stores/counter-store.ts";
import { sha256 } from "../sha256.ts";

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
 */
export async function countAttempt(ctx: BaseContext, attempts: readonly CountedAttempt[]): Promise<void> {
  for (const attempt of attempts) {
    const retryAfterMs = await tryAttempt(ctx, attempt);
    if (retryAfterMs !== null) throw new TooManyRequests(Math.max(1, Math.ceil(retryAfterMs / 1000)));
  }
}

/** Counts an attempt. Returns `null` if it is allowed, else the milliseconds until the next one is. */
export async function tryAttempt(ctx: BaseContext, attempt: CountedAttempt): Promise<number | null> {
  const { services } = ctx;
  const { counters: store } = services.stores;
  const windowMs = attempt.windowSeconds * 1000;
  const { value, resetAfterMs } = await guarded(store).increment(services, store, keyOf(attempt), windowMs);
  return value > attempt.limit ? resetAfterMs : null;
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
