import type { AnyHandler } from "../handlers/data-handler.ts";
import { scopedTotals } from "../handlers/list-scope.ts";
import { type Steps, wait } from "../handlers/steps.ts";
import { askTotal, checkTotal, type Totals } from "../handlers/totals.ts";
import { InvalidPageError } from "../query/pagination-error.ts";
import type { Page } from "../strategies/base-pagination-strategy.ts";
import type { AnyStrategy } from "../strategies/strategy-by-name.ts";
import { Fetching, fetchItems } from "./fetch-items.ts";
import { noteList } from "./note-list.ts";
import type { PageRequest } from "./page-request.ts";

// Beyond this offset it pays to count first, because a source that knows its end may read from there.
const DEEP = 1_000;

/** Returns the page at the offset and limit that the strategy calculates from the request. */
export function* offsetPage<T>(
  strategy: AnyStrategy,
  handler: AnyHandler<T>,
  request: PageRequest,
): Steps<Page<T, object>> {
  noteList(strategy, handler, request.place);
  const [offset, limit] = sliceOf(strategy, strategy.parseParameters(request.params));
  checkDepth(handler, offset, strategy.positionParameter);
  const totals = scopedTotals<Totals>(request.scope, strategy.totals ?? "exact");
  const counted = isCountedFirst(handler, offset, limit, totals)
    ? checkTotal(yield* wait(handler.getTotalItems(new Fetching(request))), handler)
    : undefined;
  // One extra row shows whether there is a next page if the total does not.
  const wanted = limit === 0 ? 0 : totals === "exact" ? limit : limit + 1;
  const isEmpty = wanted === 0 || (counted !== undefined && offset >= counted);
  if (!isEmpty) checkSkipped(handler, counted === undefined ? offset : Math.min(offset, counted - offset), strategy);
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

/** Returns the checked offset and limit that a strategy calculates from its parsed parameters. */
export function sliceOf(strategy: AnyStrategy, parsed: unknown): readonly [offset: number, limit: number] {
  const slice = strategy.calculateOffsetLimit(...((Array.isArray(parsed) ? parsed : [parsed]) as [unknown]));
  const [offset, limit] = slice;
  if (isSize(offset) && isSize(limit)) return slice;
  throw new TypeError(`${strategy.constructor.name}.calculateOffsetLimit must return two whole numbers, 0 or more`);
}

function isSize(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Rejects an offset beyond the handler's `maxOffset` before anything is read. */
export function checkDepth(handler: AnyHandler<unknown>, offset: number, parameter: string): void {
  const { maxOffset } = handler;
  if (maxOffset !== undefined && offset > maxOffset) throw tooDeep(parameter, maxOffset);
}

/** A database reads the rows it skips, so a page in the middle of a long table costs as much as all pages before it. */
function checkSkipped({ maxSkipped }: AnyHandler<unknown>, skipped: number, { positionParameter }: AnyStrategy): void {
  if (maxSkipped !== undefined && skipped > maxSkipped) throw tooDeep(positionParameter, maxSkipped);
}

function tooDeep(parameter: string, limit: number): InvalidPageError {
  return new InvalidPageError(
    `${parameter} exceeds the maximum offset of ${limit} items. Use the cursor strategy for deep pages.`,
    { parameter, code: "OFFSET_TOO_DEEP" },
  );
}

/** A handler with `endsWhenShort` needs no count, except for deep pages. */
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

/** Limits a reported total: it is not above its cap and not below the number of items already seen. */
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
