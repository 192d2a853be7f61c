import { ConfigurationError } from "../../core/configuration-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Condition } from "../conditions/condition.ts";
import { type AnyHandler, type DataHandler, isDataHandler, isScopable, type Scopable } from "./data-handler.ts";
import { run, type Steps, wait } from "./steps.ts";
import { AsyncListDataHandler, SyncListDataHandler, withItems } from "./sync-list-data-handler.ts";
import { DataHandlerInvalid } from "./totals.ts";

/** An authorization rule, applied to the items of a list for one caller. */
export interface ListScope {
  /** The name of the rule. Cursors are bound to it. */
  readonly name: string;
  /** The condition for this caller; `null` if the rule has none. */
  readonly condition: Condition | null;
  /** Decides for each item. Starts all decisions before it awaits any. Rejects if a decision is unknown. */
  allows(items: readonly unknown[]): MaybePromise<readonly boolean[]>;
}

/**
 * Returns the handler restricted to what the scope allows: a list in memory is filtered, any other handler applies the
 * condition. Throws `ConfigurationError` if it can do neither.
 */
export function scopedHandler<T>(handler: AnyHandler<T>, scope: ListScope): MaybePromise<AnyHandler<T>> {
  return run(scoped(handler, scope));
}

export function* scoped<T>(handler: AnyHandler<T>, scope: ListScope): Steps<AnyHandler<T>> {
  if (handler instanceof SyncListDataHandler || handler instanceof AsyncListDataHandler)
    return yield* filtered(handler, scope);
  if (!isScopable(handler))
    throw new ConfigurationError(
      `the rule ${scope.name}`,
      `cannot restrict the data handler ${handler.constructor.name}, which has no scopedTo: implement it, or use tableHandler or a list`,
    );
  if (scope.condition === null)
    throw new ConfigurationError(
      `the rule ${scope.name}`,
      `cannot restrict the data handler ${handler.constructor.name} without a condition: add \`where\` to the rule`,
    );
  for (const watch of listWatchers) yield* wait(watch(handler, scope));
  return restrictedBy(handler, scope.condition);
}

/** Called with each list that a condition is about to restrict, for tests that compare the halves of a rule. */
export const listWatchers: Set<(handler: AnyHandler<any> & Scopable<any>, scope: ListScope) => Promise<void>> =
  new Set();

/** Returns the handler for the rows that meet the condition. */
export function restrictedBy<T>(handler: DataHandler<T> & Scopable<T>, condition: Condition): AnyHandler<T> {
  const restricted: unknown = handler.scopedTo(condition);
  if (isDataHandler(restricted)) return restricted as AnyHandler<T>;
  throw new DataHandlerInvalid(handler, "did not return a data handler from scopedTo");
}

function* filtered<T>(
  handler: SyncListDataHandler<T> | AsyncListDataHandler<T>,
  scope: ListScope,
): Steps<AnyHandler<T>> {
  const total = yield* wait(handler.getTotalItems());
  const items = yield* wait(handler.getItems(0, total));
  const decisions = yield* decided(scope, items);
  return withItems(
    handler,
    items.filter((_item, index) => decisions[index] === true),
  );
}

/**
 * Returns whether the scope allows all items that its own condition has let through. For a page without items, the first
 * items of the list are read, because its totals and links tell about them.
 *
 * @param handler the list before the scope was applied to it
 * @param restricted the list that the items are from
 */
export function* isAgreed(
  handler: AnyHandler<unknown>,
  restricted: AnyHandler<unknown>,
  scope: ListScope,
  items: readonly unknown[],
): Steps<boolean> {
  // A list in memory was filtered by the decisions themselves.
  if (!isScopable(handler)) return true;
  const checked = items.length > 0 ? items : yield* wait(restricted.getItems(0, MAX_CHECKED));
  const decisions = yield* decided(scope, checked);
  return checked.every((_item, index) => decisions[index] === true);
}

const MAX_CHECKED = 10;

function* decided(scope: ListScope, items: readonly unknown[]): Steps<readonly boolean[]> {
  return items.length === 0 ? [] : yield* wait(scope.allows(items));
}

/** Returns how totals are determined: not at all if only `allows` can tell which items count. */
export function scopedTotals<N>(scope: ListScope | undefined, totals: N): N | "none" {
  return scope?.condition === null ? "none" : totals;
}
