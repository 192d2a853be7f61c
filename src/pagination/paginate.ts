import type { MaybePromise } from "../core/maybe-promise.ts";
import { cursorPage } from "./cursor-page.ts";
import type { AnyHandler } from "./data-handler.ts";
import { offsetPage } from "./offset-page.ts";
import type { PageRequest } from "./page-request.ts";
import { run } from "./steps.ts";
import type { Page } from "./strategies/base-pagination-strategy.ts";
import { CursorPagination } from "./strategies/cursor-pagination.ts";
import type { AnyStrategy } from "./strategies/strategy-by-name.ts";

/** Returns the requested page: at once, or as a promise if the handler returns promises. */
export function paginate<T>(
  strategy: AnyStrategy,
  handler: AnyHandler<T>,
  request: PageRequest,
): MaybePromise<Page<T, object>> {
  return run(
    strategy instanceof CursorPagination
      ? cursorPage(strategy, handler, request)
      : offsetPage(strategy, handler, request),
  );
}
