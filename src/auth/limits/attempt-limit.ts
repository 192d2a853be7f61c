import { createHash } from "node:crypto";
import type { BaseContext } from "../../http/context/http-context.ts";
import { TooManyRequests } from "../../http/context/http-exception.ts";
import { GuardedCounter } from "../../http/limits/guarded-counter.ts";
import type { CounterStore } from "../../stores/counter-store.ts";

/** So many in so long. */
export interface AttemptLimit {
  readonly limit: number;
  readonly windowSeconds: number;
}

/** One limit, and whose attempts it counts. */
export interface CountedAttempt extends AttemptLimit {
  /** Which limit it is. */
  readonly name: string;
  readonly whose: string;
}

/** One for each store: that one of them fails says nothing of another. */
const counters = new WeakMap<CounterStore, GuardedCounter>();

/**
 * Counts an attempt with each of the limits, in their order, and throws 429 at the first that is passed. Those behind it
 * are not counted then: who is turned away by address cannot lock somebody else's account.
 */
export async function countAttempt(ctx: BaseContext, attempts: readonly CountedAttempt[]): Promise<void> {
  for (const attempt of attempts) {
    const retryAfterMs = await tryAttempt(ctx, attempt);
    if (retryAfterMs !== null) throw new TooManyRequests(Math.max(1, Math.ceil(retryAfterMs / 1000)));
  }
}

/** Counts an attempt; `null` when it may be made, else the milliseconds until the next one. */
export async function tryAttempt(ctx: BaseContext, attempt: CountedAttempt): Promise<number | null> {
  const { services } = ctx;
  const { counters: store } = services.stores;
  const windowMs = attempt.windowSeconds * 1000;
  const { value, resetAfterMs } = await guarded(store).increment(services, store, keyOf(attempt), windowMs);
  return value > attempt.limit ? resetAfterMs : null;
}

/** Forgets the attempts that this limit has counted. */
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

/** Hashed: an identifier is any text, as long as it likes, and nothing to be read in a store of counters. */
function keyOf({ name, whose, limit }: CountedAttempt): string {
  return `attempts:${name}:${limit}:${createHash("sha256").update(whose).digest("base64url")}`;
}
