import { cursorPage } from "./cursor-page.ts";
import type { AnyHandler } from "./data-handler.ts";
import { offsetPage } from "./offset-page.ts";
import type { PageRequest } from "./page-request.ts";
import { runLater, runNow, type Steps } from "./steps.ts";
import type { Page } from "./strategies/base-pagination-strategy.ts";
import { CursorPagination } from "./strategies/cursor-pagination.ts";
import type { AnyStrategy } from "./strategies/strategy-by-name.ts";

/** A strategy and a source, and what surrounds them, give a page: at once. Throws a `TypeError` for a source that cannot. */
export function paginate<T>(strategy: AnyStrategy, handler: AnyHandler<T>, request: PageRequest): Page<T, object> {
  return runNow(
    pageSteps(strategy, handler, request),
    () =>
      new TypeError(
        `response.paginate was given ${handler.constructor.name}, which answers later: use response.apaginate, and await it`,
      ),
  );
}

/** The same, later, over a source of either kind. */
export function apaginate<T>(
  strategy: AnyStrategy,
  handler: AnyHandler<T>,
  request: PageRequest,
): Promise<Page<T, object>> {
  return runLater(pageSteps(strategy, handler, request));
}

function pageSteps<T>(strategy: AnyStrategy, handler: AnyHandler<T>, request: PageRequest): Steps<Page<T, object>> {
  return strategy instanceof CursorPagination
    ? cursorPage(strategy, handler, request)
    : offsetPage(strategy, handler, request);
}
