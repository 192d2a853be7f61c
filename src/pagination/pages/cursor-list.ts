import { ConfigurationError } from "../../core/configuration-error.ts";
import { isInstance } from "../../core/describe-error.ts";
import { KeyTooLong, openCursor, type Position, type Seal, sealCursor } from "../cursor/seal-cursor.ts";
import type { Filters } from "../filter/filters.ts";
import { type AnyHandler, isSeekable } from "../handlers/data-handler.ts";
import { keysOf } from "../handlers/keys-of.ts";
import type { Steps } from "../handlers/steps.ts";
import { type KeyedRows, KeyMisfit, type KeyTuple, keyValueOf } from "../keys/key-tuple.ts";
import { type Order, withNulls, withUniqueKey } from "../keys/order.ts";
import { InvalidCursorError } from "../query/pagination-error.ts";
import type { CursorPagination } from "../strategies/cursor-pagination.ts";
import { Fetching, fetchItems } from "./fetch-items.ts";
import { noteList } from "./note-list.ts";
import { checkDepth } from "./offset-page.ts";
import type { PageRequest } from "./page-request.ts";

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
    const position = this.#positionOf(cursor);
    const { at } = position;
    const isFitting = isSeekable(this.handler) ? at === null || "key" in at : at !== null && "offset" in at;
    const isComplete = at === null || !("key" in at) || at.key.length === this.order.length;
    if (isFitting && isComplete) return position;
    throw new InvalidCursorError({ parameter: this.#strategy.positionParameter, code: "CURSOR_MISMATCH" });
  }

  #positionOf(cursor: string): Position {
    const { decodeCursor } = this.#strategy;
    try {
      return openCursor(cursor, this.#sealing);
    } catch (error) {
      const key = decodeCursor?.(cursor) ?? null;
      if (key === null || key.some((value) => keyValueOf(value) === undefined)) throw error;
      return { direction: "forward", at: { key } };
    }
  }

  seal(position: Position): string {
    try {
      return sealCursor(position, this.#sealing);
    } catch (error) {
      if (!isInstance(error, KeyTooLong)) throw error;
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
      if (!isInstance(error, KeyMisfit)) throw error;
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
      `the handler of "${this.#name}" has no getItemsAfter: its items keep the handler's order instead of that of the strategy, and inserts and deletes shift the pages`,
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
