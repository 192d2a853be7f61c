import { AsyncLocalStorage } from "node:async_hooks";
import { isInstance, loggable } from "../../core/describe-error.ts";
import { PorticoError } from "../../core/portico-error.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { HttpException, ServiceUnavailable } from "../../kernel/exceptions/http-exception.ts";
import type { Reservation } from "../../stores/counter-store.ts";
import { HashingRefused } from "../passwords/hash-queue.ts";
import { type CountedAttempt, countAttempt, refundAttempt } from "./attempt-limit.ts";

/** An attempt to prove a secret, and the limits that it counts against. The class is private: `attemptSecret` begins one. */
class Attempt {
  readonly #ctx: BaseContext;
  readonly #reservations: Reservation[] = [];
  #isCompared = false;

  constructor(ctx: BaseContext) {
    this.#ctx = ctx;
  }

  /** Counts against further limits, such as those of the account once it is known. Throws 429. */
  async count(limits: readonly CountedAttempt[]): Promise<void> {
    await countAttempt(this.#ctx, limits, (reservation) => this.keep(reservation));
  }

  /** Adds an attempt that was counted elsewhere, so that it is refunded with the others. */
  keep(reservation: Reservation): void {
    if (this.#reservations.length < MAX_LIMITS) this.#reservations.push(reservation);
  }

  /** Call it immediately before a secret is compared. From then on the attempt counts, whatever happens afterwards. */
  compares(): void {
    this.#isCompared = true;
  }

  /** Takes the attempt back if an outage has prevented the comparison. */
  fail(error: unknown): void {
    if (!isOutage(error) || (this.#isCompared && !isInstance(error, HashingRefused))) return;
    for (const reservation of this.#reservations) refundAttempt(this.#ctx, reservation);
  }
}

/** The innermost attempt. */
const current = new AsyncLocalStorage<Attempt>();

/** More than one attempt counts against. */
const MAX_LIMITS = 16;

/** An attempt to prove a secret. Every function that compares one requires it, so no route can do that without a limit. */
export type SecretAttempt = Attempt;

/**
 * Runs an attempt to prove a secret, such as a password, a code or a token, unless there were too many. Throws 429 with
 * `Retry-After` before `work` runs.
 *
 * The attempt is counted before it runs, so that concurrent attempts cannot exceed the limit. It is taken back if it fails
 * because of an outage before a secret was compared. An outage after the comparison counts, and has the same response as one
 * before it, so that it does not reveal whether the secret was right.
 */
export async function attemptSecret<T>(
  ctx: BaseContext,
  limits: readonly CountedAttempt[],
  work: (attempt: SecretAttempt) => Promise<T>,
): Promise<T> {
  const attempt = new Attempt(ctx);
  try {
    await attempt.count(limits);
    return await current.run(attempt, () => work(attempt));
  } catch (error) {
    attempt.fail(error);
    throw asOutage(ctx, error);
  }
}

/** Returns the attempt that the request is. Throws if `attemptSecret` does not run. */
export function attemptOf(ctx: BaseContext): SecretAttempt {
  const attempt = current.getStore();
  if (attempt === undefined) throw new Error(`no attempt was begun at ${ctx.pattern}: call attemptSecret`);
  return attempt;
}

function isOutage(error: unknown): boolean {
  return !isInstance(error, PorticoError) || error.status >= 500;
}

/** Replaces the error of a store or database that is unavailable, whichever it is, by one error. */
function asOutage(ctx: BaseContext, error: unknown): unknown {
  if (!isInstance(error, PorticoError) || error.status !== 503) return error;
  if (isInstance(error, HttpException)) {
    if (error.cause === undefined) return error;
  } else ctx.log.error({ err: loggable(error) }, "an attempt to prove a secret failed");
  return new ServiceUnavailable("The account service is temporarily unavailable. Try again later.", { cause: error });
}
