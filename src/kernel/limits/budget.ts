import { ConfigurationError } from "../../core/configuration-error.ts";
import { FeatureSlot } from "../../core/feature-slot.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { integerFrom, positiveInteger, type Resolved, resolveOptions, strict } from "../../core/resolve-options.ts";
import { type CounterStore, MAX_UNITS } from "../../stores/counter-store.ts";
import type { BaseContext } from "../context/http-context.ts";
import { BudgetExceeded } from "../exceptions/budget-exceeded.ts";
import { HttpException } from "../exceptions/http-exception.ts";
import { addressBucket } from "../exchange/address-bucket.ts";
import { Charge, chargeOf, type Quota, WINDOW_MS } from "./charge.ts";
import { GuardedCounter } from "./guarded-counter.ts";

/**
 * How much one caller may do, over routes, GraphQL and sockets together. A GraphQL operation takes as many units as it costs,
 * a request to a route takes the route's `cost`. At least one option is required.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 *
 * const app = new PorticoApp({ budget: { userPerMinute: 10_000, addressPerMinute: 1_000, maxInFlight: 20 } });
 * app.get("/report", { cost: 100 }, () => "a hundred times the work of another route");
 * ```
 */
export interface BudgetOptions {
  /** The units per minute of a signed-in user, over all sessions, tokens and API keys of that user. @default no limit */
  readonly userPerMinute?: number;
  /** The units per minute of an API key, in place of those of its user. @default an API key uses the budget of its user */
  readonly keyPerMinute?: number;
  /** The units per minute of an address, for anonymous callers; for IPv6 its first 64 bits. @default no limit */
  readonly addressPerMinute?: number;
  /**
   * How many operations of one caller may run at once in each process. An open subscription does not run between its events,
   * and an operation that takes longer than a minute is no longer counted. @default no limit
   */
  readonly maxInFlight?: number;
}

const units = strict(integerFrom(1, MAX_UNITS));

const budgetRules = {
  userPerMinute: units,
  keyPerMinute: units,
  addressPerMinute: units,
  maxInFlight: strict(positiveInteger),
};

/** The caller that pays for an operation. */
interface Payer {
  readonly policy: Quota["policy"];
  readonly id: string;
  readonly limit: number | undefined;
}

/** The budgets of all callers of an application. */
export class Budget {
  readonly #options: Resolved<typeof budgetRules>;
  readonly #store: CounterStore;
  readonly #counter = new GuardedCounter("budget");
  /** The operations in flight of each caller. */
  readonly #inFlight = new Map<string, Set<Charge>>();

  constructor(options: BudgetOptions, store: CounterStore) {
    this.#options = resolveOptions("PorticoApp.budget", options, budgetRules);
    this.#store = store;
    if (Object.values(this.#options).every((value) => value === undefined))
      throw new ConfigurationError("PorticoApp.budget", `requires one of ${Object.keys(budgetRules).join(", ")}`);
    if (store.reserve === undefined)
      throw new ConfigurationError("PorticoApp.budget", "requires a counter store with reserve()");
  }

  /**
   * Throws `ConfigurationError` for a cost that is above one of the budgets, because it could never be paid. Where the caller
   * `isSignedIn`, the budget of addresses does not matter.
   */
  checkCost(owner: string, cost: number, isSignedIn: boolean): void {
    const { userPerMinute, keyPerMinute, addressPerMinute } = this.#options;
    const limits = { userPerMinute, keyPerMinute, ...(isSignedIn ? {} : { addressPerMinute }) };
    for (const [name, limit] of Object.entries(limits))
      if (limit !== undefined && cost > limit)
        throw new ConfigurationError(`${owner}.cost`, `at most budget.${name} (${limit})`, cost);
  }

  /**
   * Reserves units for an operation of the caller, and a place among those in flight. Returns `null` if no limit applies to
   * the caller. Throws 429 above a limit, and 400 for units that are above the whole budget. The caller must end the charge.
   */
  reserve(ctx: BaseContext, cost: number): MaybePromise<Charge | null> {
    const payer = this.#payerOf(ctx);
    const { limit } = payer;
    if (limit === undefined && this.#options.maxInFlight === undefined) return null;
    if (limit !== undefined && cost > limit)
      throw new HttpException(400, `The operation's cost is ${cost}; the limit is ${limit}`, {
        code: "COST_LIMIT_EXCEEDED",
      });
    const charge = this.#enter(ctx, `budget:${payer.policy}:${payer.id}`);
    return limit === undefined || cost === 0 ? charge : this.#take(ctx, charge, { ...payer, limit }, cost);
  }

  async #take(ctx: BaseContext, charge: Charge, quota: Quota & Payer, cost: number): Promise<Charge> {
    const { policy, id, limit } = quota;
    try {
      const reservation = await this.#counter.reserve(ctx.services, this.#store, {
        key: `budget:${policy}:${id}`,
        windowMs: WINDOW_MS,
        units: cost,
        limit,
      });
      chargeOf.put(ctx, charge);
      charge.reserved({ policy, limit }, reservation, reservation.isGranted ? cost : 0);
      if (reservation.isGranted) return charge;
      throw new BudgetExceeded(cost, limit, reservation);
    } catch (error) {
      charge.end();
      throw error;
    }
  }

  /** Identifies the caller, and the response is still not marked as dependent on the caller. */
  #payerOf({ caller, exchange }: BaseContext): Payer {
    const { userPerMinute, keyPerMinute, addressPerMinute } = this.#options;
    const { user, auth, credential } = caller;
    if (!user.isAuthenticated) return { policy: "address", id: addressBucket(exchange.ip), limit: addressPerMinute };
    if (keyPerMinute !== undefined && auth === "apikey" && credential?.id !== undefined)
      return { policy: "key", id: credential.id, limit: keyPerMinute };
    // An administrator does not use up the budget of the user they act as.
    return { policy: "user", id: credential?.impersonator ?? user.identity, limit: userPerMinute };
  }

  #enter({ services }: BaseContext, payer: string): Charge {
    const { maxInFlight } = this.#options;
    const charge = new Charge(services, () => {
      running.delete(charge);
      if (running.size === 0 && this.#inFlight.get(payer) === running) this.#inFlight.delete(payer);
    });
    const running = this.#inFlight.get(payer) ?? new Set();
    if (maxInFlight === undefined) return charge;
    if (running.size >= maxInFlight) forgetLong(running, charge.startedAt);
    if (running.size >= maxInFlight)
      throw new HttpException(429, `Too many operations at once: the limit per caller is ${maxInFlight}`, {
        code: "TOO_MANY_OPERATIONS",
        headers: { "retry-after": "1" },
      });
    this.#inFlight.set(payer, running.add(charge));
    return charge;
  }
}

/** An operation that never ends must not block its caller forever. */
function forgetLong(running: Set<Charge>, now: number): void {
  for (const charge of running) if (now - charge.startedAt >= WINDOW_MS) running.delete(charge);
}

/** The budgets of the callers of an application; `null` without the option. */
export const budgetOf: FeatureSlot<Budget | null> = new FeatureSlot<Budget | null>(null);
