import type { Position } from "../cursor/seal-cursor.ts";
import type { Filters } from "../filter/filters.ts";
import { type AnyHandler, isSeekable } from "../handlers/data-handler.ts";
import { scopedTotals } from "../handlers/list-scope.ts";
import type { Steps } from "../handlers/steps.ts";
import type { Totals } from "../handlers/totals.ts";
import { InvalidPageError } from "../query/pagination-error.ts";
import type { Page } from "../strategies/base-pagination-strategy.ts";
import type { CursorPagination } from "../strategies/cursor-pagination.ts";
import { CursorList } from "./cursor-list.ts";
import { askedTotal, reportedTotal, sliceOf } from "./offset-page.ts";
import { pageBar } from "./page-bar.ts";
import type { PageRequest } from "./page-request.ts";

/** Returns the page that a cursor points to. */
export function* cursorPage<T>(
  strategy: CursorPagination<any, any>,
  handler: AnyHandler<T>,
  request: PageRequest,
  filters: Filters | null,
): Steps<Page<T, object>> {
  const { params, baseUrl, search } = request;
  const parsed = strategy.parseParameters(params);
  const { cursor, order } = parsed;
  const [skip, size] = sliceOf(strategy, parsed);
  const list = new CursorList(strategy, handler, request, order, filters);
  const position = cursor === null ? null : list.open(cursor);
  if (cursor !== null && Object.hasOwn(params, "page") && strategy.positionParameter !== "page")
    request.warn("the request has both a cursor and a page number: the page number is ignored");
  const { at, direction } = position ?? { at: null, direction: "forward" };
  const window = yield* list.window(at, direction, size, skip);
  const { items, hasNext, hasPrevious, cursorAt } = window;
  if (strategy.outOfRange === "error" && at !== null && items.length === 0) {
    const parameter = strategy.positionParameter;
    throw new InvalidPageError(`${parameter} is beyond the last page`, { parameter });
  }
  const totals = scopedTotals<Totals>(
    request.scope,
    strategy.totals ?? (handler.isCounted === true ? "exact" : "none"),
  );
  const total = totals === "none" ? null : yield* askedTotal(handler, totals, request);
  const { reported, isBeyondCap } = reportedTotal(total, totals, items.length);
  // Nothing follows an empty page, so the cursor back starts at that end of the list. Starting at the key itself would
  // leave out the item with that key. An offset lies between two items, so it can be used as it is.
  const turned = at !== null && "offset" in at ? at : null;
  const cursorOf = (index: number, way: Position["direction"]): string =>
    items.length > 0 ? cursorAt(index, way) : list.seal({ direction: way, at: turned });
  const nextCursor = size > 0 && hasNext ? cursorOf(items.length - 1, "forward") : null;
  const prevCursor = size > 0 && hasPrevious ? cursorOf(0, "backward") : null;
  const near =
    strategy.pageBar === null ? null : yield* pageBar(list, { size, nextCursor, prevCursor }, strategy.pageBar);
  const facts = {
    hasMore: size > 0 && hasNext,
    isBeyondCap,
    ...(search === undefined ? {} : { search }),
    nextCursor,
    prevCursor,
    ...(near === null ? {} : { near }),
    // The last page is read backward from the end, so it needs no total.
    lastCursor:
      size > 0 && isSeekable(handler) && (items.length > 0 || hasNext || hasPrevious)
        ? list.seal({ direction: "backward", at: null })
        : null,
  };
  return { items, pagination: strategy.generateMetadata(reported, items, baseUrl, params, facts) };
}
