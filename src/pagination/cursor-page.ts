import { ConfigurationError } from "../core/configuration-error.ts";
import { KeyTooLong, openCursor, type Position, type Seal, sealCursor } from "./cursor/seal-cursor.ts";
import type { AnyHandler } from "./data-handler.ts";
import { isSeekable } from "./data-handler.ts";
import { Fetching, fetchItems } from "./fetch-items.ts";
import type { Filters } from "./filter/filters.ts";
import { type KeyedRows, KeyMisfit, type KeyTuple } from "./keys/key-tuple.ts";
import { keysOf } from "./keys/keys-of.ts";
import { scopedTotals } from "./list-scope.ts";
import { noteList } from "./note-list.ts";
import { askedTotal, checkDepth, reportedTotal, sliceOf } from "./offset-page.ts";
import { type Order, withNulls, withUniqueKey } from "./order.ts";
import { pageBar } from "./page-bar.ts";
import type { PageRequest } from "./page-request.ts";
import { InvalidCursorError, InvalidPageError } from "./pagination-error.ts";
import type { Steps } from "./steps.ts";
import type { Page } from "./strategies/base-pagination-strategy.ts";
import type { CursorPagination } from "./strategies/cursor-pagination.ts";
import type { Totals } from "./totals.ts";

/** A part of a list between two positions, in list order. */
export interface Window<T> {
  readonly items: readonly T[];
  /** Whether there are items before the first, and after the last. */
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
  /** The cursor of an item. A cursor is sealed only when it is requested. */
  readonly cursorAt: (index: number, direction: Position["direction"]) => string;
}

/** A list and its strategy. Routes and connections read their windows from it. */
export class CursorList<T> {
  readonly handler: AnyHandler<T>;
  readonly order: Order;
  readonly #strategy: CursorPagination<any, any>;
  readonly #request: PageRequest;
  readonly #filters: string | null;
  #seal: Seal | undefined;

  /**
   * @param order the order that the client chose, if it chose one
   * @param filters the filters of the client, which the handler applies
   */
  constructor(
    strategy: CursorPagination<any, any>,
    handler: AnyHandler<T>,
    request: PageRequest,
    order: Order = strategy.order,
    filters: Filters | null = null,
  ) {
    this.handler = handler;
    if (strategy.sort !== null && !isSeekable(handler))
      throw new ConfigurationError(
        "CursorPagination.sortable",
        `requires a data handler that can sort: implement getItemsAfter in ${handler.constructor.name}`,
      );
    this.order = isSeekable(handler) ? withUniqueKey(withNulls(order, strategy.nulls), handler.uniqueKey) : order;
    this.#strategy = strategy;
    this.#request = request;
    this.#filters = filters?.text ?? null;
    noteList(strategy, handler, request.place);
  }

  /** Returns the position of a cursor. Throws `InvalidCursorError` before anything is read. */
  open(cursor: string): Position {
    const position = openCursor(cursor, this.#sealing);
    const { at } = position;
    const isFitting = isSeekable(this.handler) ? at === null || "key" in at : at !== null && "offset" in at;
    const isComplete = at === null || !("key" in at) || at.key.length === this.order.length;
    if (isFitting && isComplete) return position;
    throw new InvalidCursorError({ parameter: this.#strategy.positionParameter, code: "CURSOR_MISMATCH" });
  }

  seal(position: Position): string {
    try {
      return sealCursor(position, this.#sealing);
    } catch (error) {
      if (!(error instanceof KeyTooLong)) throw error;
      const columns = this.order.map(([column]) => column).join(", ");
      throw new TypeError(`the list "${this.#name}" is ordered by ${columns}: ${error.message}`, { cause: error });
    }
  }

  /**
   * Returns the items next to a position. Without one, it starts at the beginning, or at the end when going backward.
   *
   * @param skip how many items next to the position are left out
   */
  *window(at: Position["at"], direction: Position["direction"], size: number, skip = 0): Steps<Window<T>> {
    if (isSeekable(this.handler))
      return yield* this.#seek(at === null || !("key" in at) ? null : at.key, direction, size, skip);
    return yield* this.#slice(at === null || !("offset" in at) ? 0 : at.offset, direction, size, skip);
  }

  *#seek(key: KeyTuple | null, direction: Position["direction"], size: number, skip: number): Steps<Window<T>> {
    const handler = this.handler as Required<Pick<AnyHandler<T>, "getItemsAfter">> & AnyHandler<T>;
    const { order } = this;
    const isForward = direction === "forward";
    const wanted = skip + size + 1;
    checkDepth(handler, skip, this.#strategy.positionParameter);
    let found: KeyedRows<T>;
    try {
      const asked = handler.getItemsAfter({ order, key, direction }, wanted, new Fetching(this.#request));
      found = yield* fetchItems(handler, asked, wanted, this.#request);
    } catch (error) {
      if (!(error instanceof KeyMisfit)) throw error;
      throw new InvalidCursorError({ parameter: this.#strategy.positionParameter, cause: error });
    }
    const keyAt = keysOf(handler, found, order);
    const hasExtra = found.length === wanted;
    const nearest = hasExtra || skip > 0 ? found.slice(skip, skip + size) : found;
    const hasPassed = key !== null || (skip > 0 && found.length > 0);
    const items = isForward ? nearest : nearest.toReversed();
    return {
      items,
      hasNext: isForward ? hasExtra : hasPassed,
      hasPrevious: isForward ? hasPassed : hasExtra,
      cursorAt: (index, way) =>
        this.seal({ direction: way, at: { key: keyAt(skip + (isForward ? index : items.length - 1 - index)) } }),
    };
  }

  /** Reads a source that cannot seek, so the cursor holds an offset. */
  *#slice(place: number, direction: Position["direction"], size: number, skip: number): Steps<Window<T>> {
    const { handler } = this;
    const isForward = direction === "forward";
    const from = isForward ? place + skip : Math.max(0, place - skip);
    const start = isForward ? from : Math.max(0, from - size);
    const wanted = isForward ? size + 1 : from - start;
    checkDepth(handler, start, this.#strategy.positionParameter);
    this.#request.warn(
      `the cursors of "${this.#name}" hold offsets, so inserts and deletes shift its pages: implement getItemsAfter in its handler`,
    );
    const found =
      wanted === 0
        ? []
        : yield* fetchItems(
            handler,
            handler.getItems(start, wanted, new Fetching(this.#request)),
            wanted,
            this.#request,
          );
    const items = isForward && found.length > size ? found.slice(0, size) : found;
    return {
      items,
      hasNext: isForward ? found.length > size : true,
      // An empty first page has no offset that a cursor back could start from.
      hasPrevious: start > 0 && (place > 0 || items.length > 0),
      cursorAt: (index, way) =>
        this.seal({ direction: way, at: { offset: start + index + (way === "forward" ? 1 : 0) } }),
    };
  }

  get #name(): string {
    return this.handler.name ?? this.#request.place;
  }

  get #sealing(): Seal {
    const { keys, cursorScope, scope } = this.#request;
    const { maxAgeSeconds, positionParameter } = this.#strategy;
    this.#seal ??= {
      keys,
      scope: this.#strategy.scopeOf(this.#name, this.order, cursorScope, scope?.name, this.#filters),
      parameter: positionParameter,
      now: this.#request.now() / 1000,
      ...(maxAgeSeconds === undefined ? {} : { maxAgeSeconds }),
    };
    return this.#seal;
  }
}

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
