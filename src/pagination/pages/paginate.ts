import type { MaybePromise } from "../../core/maybe-promise.ts";
import { filteredHandler } from "../filter/filtered-handler.ts";
import { Filters } from "../filter/filters.ts";
import type { AnyHandler } from "../handlers/data-handler.ts";
import { isAgreed, scoped } from "../handlers/list-scope.ts";
import { RuleDisagreement } from "../handlers/rule-disagreement.ts";
import { run, type Steps } from "../handlers/steps.ts";
import type { Page } from "../strategies/base-pagination-strategy.ts";
import { CursorPagination } from "../strategies/cursor-pagination.ts";
import type { AnyStrategy } from "../strategies/strategy-by-name.ts";
import { cursorPage } from "./cursor-page.ts";
import { offsetPage } from "./offset-page.ts";
import type { PageRequest } from "./page-request.ts";

/**
 * Returns the requested page: at once, or as a promise if the handler or the scope of the request returns promises. It
 * has only items that the scope allows.
 */
export function paginate<T>(
  strategy: AnyStrategy,
  handler: AnyHandler<T>,
  request: PageRequest,
): MaybePromise<Page<T, object>> {
  const { filters: fields } = strategy;
  if (fields === null) return run(scopedPage(strategy, handler, request, null));
  return run(filteredPage(strategy, handler, request, Filters.fromQuery(fields, request.params)));
}

function* filteredPage<T>(
  strategy: AnyStrategy,
  handler: AnyHandler<T>,
  request: PageRequest,
  filters: Filters,
): Steps<Page<T, object>> {
  const source = yield* filteredHandler(handler, filters);
  try {
    return yield* scopedPage(strategy, source, request, filters);
  } catch (error) {
    throw source.isMisfit?.(error) === true && source !== handler ? filters.misfit(error) : error;
  }
}

function* scopedPage<T>(
  strategy: AnyStrategy,
  handler: AnyHandler<T>,
  request: PageRequest,
  filters: Filters | null,
): Steps<Page<T, object>> {
  const { scope } = request;
  if (scope === undefined) return yield* pageOf(strategy, handler, request, filters);
  const restricted = yield* scoped(handler, scope);
  const page = yield* pageOf(strategy, restricted, request, filters);
  if (yield* isAgreed(handler, restricted, scope, page.items)) return page;
  // A row may have changed after it was read and before the rule looked at it, so the page is read once more.
  const again = yield* pageOf(strategy, restricted, request, filters);
  if (yield* isAgreed(handler, restricted, scope, again.items)) return again;
  throw new RuleDisagreement(scope.name);
}

function pageOf<T>(
  strategy: AnyStrategy,
  handler: AnyHandler<T>,
  request: PageRequest,
  filters: Filters | null,
): Steps<Page<T, object>> {
  return strategy instanceof CursorPagination
    ? cursorPage(strategy, handler, request, filters)
    : offsetPage(strategy, handler, request);
}
