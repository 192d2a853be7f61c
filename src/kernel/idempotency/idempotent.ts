import { ConfigurationError } from "../../core/configuration-error.ts";
import {
  integerFrom,
  type OptionRule,
  optional,
  REFUSED,
  resolveOptions,
  seconds,
} from "../../core/resolve-options.ts";
import { type Callable, callableOf, type Dependency, isDependency } from "../../dependencies/depend.ts";
import type { ParamPlan, ProviderPlan } from "../../dependencies/param-plan.ts";
import type { KeepingTransaction, ResponseStore } from "./response-store.ts";

/** How long the response to a request with an idempotency key is stored, and how long a retry waits for it. */
export interface IdempotentOptions {
  /** The transaction of the work, made by `transaction(database)`. The handler or the resolver declares it in `params` too. */
  readonly in: Dependency<KeepingTransaction>;
  /** How long a key is valid, in hours. @default 24 */
  readonly keepHours?: number;
  /** How long a retry waits for the first request with its key, in seconds. 0 responds with 409 at once. @default 10 */
  readonly waitSeconds?: number;
}

/** The option `idempotent` of a route or a mutation: the transaction of the work, or that and its times. */
export type IdempotentOption = Dependency<KeepingTransaction> | IdempotentOptions;

/** The option after all checks. */
export interface Idempotent {
  /** The function that opens the transaction. */
  readonly opener: Callable;
  readonly store: ResponseStore;
  readonly keepMs: number;
  readonly waitMs: number;
}

const stores = new WeakMap<Callable, () => ResponseStore>();

/** Notes that the transactions of a dependency can store responses, in the table that `open` returns. */
export function noteResponseStore(dependency: Dependency<unknown>, open: () => ResponseStore): void {
  stores.set(callableOf(dependency["~provider"]), open);
}

const HOUR_MS = 3_600_000;
const MAX_HOURS = 24 * 365;

/** The rule for the option. `readIdempotent` checks the rest. */
export const idempotentRule: OptionRule<IdempotentOption> = {
  expected: "a transaction made by transaction(database) of portico/sql, or { in, keepHours, waitSeconds }",
  read: (value) => (typeof value === "object" && value !== null ? (value as IdempotentOption) : REFUSED),
};

/**
 * Checks the option against the parameters of the work. Throws `ConfigurationError` unless they open the transaction exactly
 * once: the response is stored in it, so work in another transaction could be committed without its response.
 *
 * @param opensOnce whether all parameters of an operation share one transaction, as in GraphQL
 */
export function readIdempotent(
  owner: string,
  option: IdempotentOption,
  params: readonly ParamPlan[],
  opensOnce: boolean,
): Idempotent {
  const given = isDependency(option) ? { in: option } : option;
  const read = resolveOptions(owner, given, rules);
  const opener = read.in === undefined ? undefined : callableOf(read.in["~provider"]);
  const store = opener && stores.get(opener)?.();
  if (opener === undefined || store === undefined)
    throw new ConfigurationError(
      owner,
      "must be a transaction made by transaction(database) of portico/sql, because the response is stored in it",
    );
  const isDeclared = params.some(({ provider }) => provider?.identity === opener);
  const count = params.reduce((sum, { provider }) => sum + openings(provider, opener), 0);
  if (!isDeclared || (count > 1 && !opensOnce))
    throw new ConfigurationError(
      owner,
      isDeclared
        ? `is opened ${count} times by the parameters: open it once, and pass it on`
        : "is not among the parameters: declare the transaction in params too, and do the work in it",
    );
  return { opener, store, keepMs: read.keepHours * HOUR_MS, waitMs: read.waitSeconds * 1000 };
}

const rules = {
  in: {
    expected: "a transaction made by transaction(database) of portico/sql",
    read: (value) => (isDependency(value) ? value : REFUSED),
  } satisfies OptionRule<Dependency<unknown>>,
  keepHours: optional(integerFrom(1, MAX_HOURS), 24),
  waitSeconds: optional(seconds, 10),
};

function openings(plan: ProviderPlan | null, opener: Callable): number {
  if (plan === null) return 0;
  return plan.params.reduce((sum, { provider }) => sum + openings(provider, opener), plan.identity === opener ? 1 : 0);
}
