import type { MaybePromise } from "../core/maybe-promise.ts";
import { cursorPage } from "./cursor-page.ts";
import type { AnyHandler } from "./data-handler.ts";
import { isAgreed, type ListScope, scoped } from "./list-scope.ts";
import { offsetPage } from "./offset-page.ts";
import type { PageRequest } from "./page-request.ts";
import { RuleDisagreement } from "./rule-disagreement.ts";
import { run, type Steps } from "./steps.ts";
import type { Page } from "./strategies/base-pagination-strategy.ts";
import { CursorPagination } from "./strategies/cursor-pagination.ts";
import type { AnyStrategy } from "./strategies/strategy-by-name.ts";

/**
 * Returns the requested page: at once, or as a promise if the handler or the scope of the request returns promises. It
 * has only items that the scope allows.
 */
export function paginate<T>(
  strategy: AnyStrategy,
  handler: AnyHandler<T>,
  request: PageRequest,
): MaybePromise<Page<T, object>> {
  const { scope } = request;
  return run(scope === undefined ? pageOf(strategy, handler, request) : scopedPage(strategy, handler, request, scope));
}

function* scopedPage<T>(
  strategy: AnyStrategy,
  handler: AnyHandler<T>,
  request: PageRequest,
  scope: ListScope,
): Steps<Page<T, object>> {
  const restricted = yield* scoped(handler, scope);
  const page = yield* pageOf(strategy, restricted, request);
  if (yield* isAgreed(handler, scope, page.items)) return page;
  // A row may have changed after it was read and before the rule looked at it, so the page is read once more.
  const again = yield* pageOf(strategy, restricted, request);
  if (yield* isAgreed(handler, scope, again.items)) return again;
  throw new RuleDisagreement(scope.name);
}

function pageOf<T>(strategy: AnyStrategy, handler: AnyHandler<T>, request: PageRequest): Steps<Page<T, object>> {
  return strategy instanceof CursorPagination
    ? cursorPage(strategy, handler, request)
    : offsetPage(strategy, handler, request);
}
