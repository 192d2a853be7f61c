import type { AnyHandler } from "./data-handler.ts";
import { Fetching, fetchItems } from "./fetch-items.ts";
import type { PageRequest } from "./page-request.ts";
import { InvalidPageError } from "./pagination-error.ts";
import { type Steps, wait } from "./steps.ts";
import type { Page } from "./strategies/strategy.ts";
import type { AnyStrategy } from "./strategies/strategy-by-name.ts";
import { askTotal, checkTotal, type Totals } from "./totals.ts";

// From here on it pays to count first: a source that knows its end may read from there.
const DEEP = 1_000;

/** A page by offset and limit, which the strategy makes of the request. */
export function* offsetPage<T>(
  strategy: AnyStrategy,
  handler: AnyHandler<T>,
  request: PageRequest,
): Steps<Page<T, object>> {
  const [offset, limit] = sliceOf(strategy, request);
  checkDepth(handler, offset, strategy.positionParameter);
  const totals = strategy.totals ?? "exact";
  const counted = isCountedFirst(handler, offset, limit, totals)
    ? checkTotal(yield* wait(handler.getTotalItems(new Fetching(request))), handler)
    : undefined;
  // One row more tells whether there is a next page where the total does not.
  const wanted = limit === 0 ? 0 : totals === "exact" ? limit : limit + 1;
  const isEmpty = wanted === 0 || (counted !== undefined && offset >= counted);
  const found = isEmpty
    ? []
    : yield* fetchItems(handler, handler.getItems(offset, wanted, new Fetching(request, counted)), wanted, request);
  const items = found.length > limit ? found.slice(0, limit) : found;
  const seen = offset + found.length;
  const isEnd = handler.endsWhenShort === true && found.length < wanted && (found.length > 0 || offset === 0);
  const total = counted ?? (isEnd ? seen : totals === "none" ? null : yield* askedTotal(handler, totals, request));
  const { reported, isBeyondCap } = reportedTotal(total, totals, found.length > 0 ? seen : 0);
  const hasMore = totals === "exact" ? total !== null && offset + limit < total : found.length > limit;
  if (strategy.outOfRange === "error" && limit > 0 && offset > 0 && items.length === 0) {
    const parameter = strategy.positionParameter;
    throw new InvalidPageError(`${parameter} is beyond the last page`, { parameter });
  }
  const { baseUrl, params, search } = request;
  const isEstimate = totals === "estimated" && !isEnd && handler.estimateTotalItems !== undefined;
  const facts = { hasMore: limit > 0 && hasMore, isBeyondCap, isEstimate, ...(search === undefined ? {} : { search }) };
  return { items, pagination: strategy.generateMetadata(reported, items, baseUrl, params, facts) };
}

function sliceOf(strategy: AnyStrategy, { params }: PageRequest): readonly [offset: number, limit: number] {
  const parsed: unknown = strategy.parseParameters(params);
  const slice = strategy.calculateOffsetLimit(...((Array.isArray(parsed) ? parsed : [parsed]) as [unknown]));
  const [offset, limit] = slice;
  if (isSize(offset) && isSize(limit)) return slice;
  throw new TypeError(`${strategy.constructor.name}.calculateOffsetLimit must give two whole numbers, 0 or more`);
}

function isSize(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Refuses an offset beyond the handler's `maxOffset`, before anything is read. */
export function checkDepth(handler: AnyHandler<unknown>, offset: number, parameter: string): void {
  const { maxOffset } = handler;
  if (maxOffset === undefined || offset <= maxOffset) return;
  throw new InvalidPageError(
    `${parameter} leads more than ${maxOffset} items deep: the cursor strategy goes on from any place`,
    { parameter, code: "OFFSET_TOO_DEEP" },
  );
}

/** A handler that ends when it is short need not count at all, unless it is asked for what lies deep. */
function isCountedFirst(handler: AnyHandler<unknown>, offset: number, limit: number, totals: Totals): boolean {
  return totals === "exact" && (handler.endsWhenShort !== true || offset >= DEEP || limit === 0);
}

export function* askedTotal(
  handler: AnyHandler<unknown>,
  totals: Exclude<Totals, "none">,
  request: PageRequest,
): Steps<number> {
  return checkTotal(yield* wait(askTotal(handler, totals, new Fetching(request))), handler);
}

/** What may be said of a total: not above its cap, and not below what was seen. */
export function reportedTotal(
  total: number | null,
  totals: Totals,
  seen: number,
): { readonly reported: number | null; readonly isBeyondCap: boolean } {
  if (total === null) return { reported: null, isBeyondCap: false };
  if (typeof totals === "object")
    return { reported: Math.min(total, totals.capped), isBeyondCap: Math.max(total, seen) > totals.capped };
  return { reported: totals === "estimated" ? Math.max(total, seen) : total, isBeyondCap: false };
}
