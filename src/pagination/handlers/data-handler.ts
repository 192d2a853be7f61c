import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Condition, ConditionValue } from "../conditions/condition.ts";
import type { KeyTuple } from "../keys/key-tuple.ts";
import type { Order } from "../keys/order.ts";

/** The context of a fetch. */
export interface FetchContext {
  /** Aborts when the client disconnects or the request times out. */
  readonly signal: AbortSignal;
  /** The number of items, if they have been counted already. A handler may then read from the other end. */
  readonly totalItems?: number;
}

/**
 * A synchronous data source. Both members are required.
 *
 * @example
 * ```ts
 * import { SyncDataHandler } from "portico/pagination";
 *
 * class Squares extends SyncDataHandler<number> {
 *   getTotalItems(): number {
 *     return 1_000;
 *   }
 *   getItems(offset: number, limit: number): readonly number[] {
 *     return Array.from({ length: Math.min(limit, 1_000 - offset) }, (_, index) => (offset + index) ** 2);
 *   }
 * }
 * ```
 */
export abstract class SyncDataHandler<T> {
  /** Scope of this list's cursors. @default the route's pattern or the field's coordinate */
  readonly name?: string;
  abstract getTotalItems(): number;
  abstract getItems(offset: number, limit: number, context?: FetchContext): readonly T[];
}

/** An asynchronous data source. Both members are required. */
export abstract class AsyncDataHandler<T> {
  /** Scope of this list's cursors. @default the route's pattern or the field's coordinate */
  readonly name?: string;
  abstract getTotalItems(context?: FetchContext): Promise<number>;
  abstract getItems(offset: number, limit: number, context?: FetchContext): Promise<readonly T[]>;
}

export type DataHandler<T> = SyncDataHandler<T> | AsyncDataHandler<T>;

/** A handler of either kind. `N` tells them apart: it is the total, or a promise of the total. */
export interface PageSource<T, N extends MaybePromise<number>> {
  readonly name?: string;
  getTotalItems(context?: FetchContext): N;
  getItems(offset: number, limit: number, context?: FetchContext): MaybePromise<readonly T[]>;
}

// ---- Optional members of a handler, detected by their presence.

/** A position in a list and a direction. */
export interface SeekRequest {
  /** A total order: it includes the handler's unique key. */
  readonly order: Order;
  /** Only rows after this key are read. `null` is the beginning, or the end when going backward. */
  readonly key: KeyTuple | null;
  readonly direction: "forward" | "backward";
}

/** Members of a handler that can start after a key instead of at an offset. */
export interface Seekable<T> {
  /** Columns that together identify a row. They break ties in the order. */
  readonly uniqueKey: readonly string[];
  /** Returns the rows next to the key, closest first in both directions. */
  getItemsAfter(seek: SeekRequest, limit: number, context?: FetchContext): MaybePromise<readonly T[]>;
  /** Returns the key of an item from this handler, if its fields do not hold the exact values. @default its fields */
  keyOf?(item: T, order: Order): KeyTuple;
}

/** The values of a parent, by the columns of its children that refer to it: `{ author_id: "7" }`. */
export type ParentKey = Readonly<Record<string, ConditionValue>>;

/** A position in the list of one parent. */
export interface ParentSeek {
  readonly parent: ParentKey;
  /** Only rows after this key are read. `null` is the beginning, or the end when going backward. */
  readonly key: KeyTuple | null;
}

/**
 * Members of a handler that can read and count the lists of many parents at once, for a connection with `parent`. All
 * parents of one call have the same columns. A null refers to no parent, so its list is empty.
 */
export interface Nestable<T> {
  /**
   * Returns the rows next to each key, closest first in both directions: one list for each seek, in their order. An
   * `Error` fails only the seek at its position.
   */
  getItemsBelow(
    seeks: readonly ParentSeek[],
    by: Pick<SeekRequest, "order" | "direction">,
    limit: number,
    context?: FetchContext,
  ): Promise<readonly (readonly T[] | Error)[]>;
  /** Returns the number of items of each parent, or `cap` for those that have at least that many. */
  countBelow(
    parents: readonly ParentKey[],
    cap: number | null,
    context?: FetchContext,
  ): Promise<readonly (number | Error)[]>;
}

/** Members of a handler that can estimate its total without counting. */
export interface Estimating {
  estimateTotalItems(context?: FetchContext): MaybePromise<number>;
}

/** Members of a handler that can stop counting at a cap. */
export interface Capping {
  /** Returns the number of items, or `cap` if there are at least that many. */
  countUpTo(cap: number, context?: FetchContext): MaybePromise<number>;
}

/** Members of a handler that reads from a database. */
export interface Deep {
  /** Larger offsets are rejected before anything is read. */
  readonly maxOffset?: number;
  /** A page is rejected if more items than this must be skipped for it, from the closer end if the total is known. */
  readonly maxSkipped?: number;
  /** Whether fewer items than requested means that the list has ended, so that the total is known without counting. */
  readonly endsWhenShort?: boolean;
}

/** Members of a handler that can leave out rows by a condition, so that an authorization rule applies in the source. */
export interface Scopable<T> {
  /**
   * Returns a handler for the rows that meet the condition. It applies to pages and totals alike. A handler over another
   * query builder compiles `condition["~condition"]`. Each node is true or false for every row: `not` of an equality is
   * true for rows with null, so compile it as `column <> value or column is null`.
   */
  scopedTo(condition: Condition): DataHandler<T>;
  /**
   * Whether an error of the source means that a value in the condition does not fit its column, such as text for a UUID.
   * If a client sent the value as a filter, the response is then 400. @default no error means that
   */
  isMisfit?(error: unknown): boolean;
}

/** Members of a handler that can leave out columns, so that a connection with `columns: "selected"` reads fewer of them. */
export interface Selecting<T> {
  /**
   * Returns a handler for the same rows, which may lack other columns than these. It reads what it needs for the keys of
   * its rows in any case. Totals are not affected.
   */
  selecting(columns: readonly string[]): DataHandler<T>;
}

/** Marks a handler that can sort by columns that its items do not have. Only TypeScript uses it. */
export interface Sorting<C extends string> {
  readonly "~columns"?: (column: C) => void;
}

/** Marks a handler whose total costs nothing, so that cursor pages report it by default. */
export interface Counted {
  readonly isCounted: true;
}

/** A handler with all optional members. */
export type AnyHandler<T> = DataHandler<T> &
  Partial<Seekable<T> & Estimating & Capping & Deep & Scopable<T> & Nestable<T> & Selecting<T> & Counted>;

export function isDataHandler(value: unknown): value is AnyHandler<unknown> {
  if (typeof value !== "object" || value === null) return false;
  const { getTotalItems, getItems } = value as Partial<DataHandler<unknown>>;
  return typeof getTotalItems === "function" && typeof getItems === "function";
}

export function isScopable<T>(handler: AnyHandler<T>): handler is DataHandler<T> & Scopable<T> {
  return typeof handler.scopedTo === "function";
}

export function isSelecting<T>(handler: AnyHandler<T>): handler is DataHandler<T> & Selecting<T> {
  return typeof handler.selecting === "function";
}

export function isSeekable<T>(handler: AnyHandler<T>): handler is DataHandler<T> & Seekable<T> {
  return typeof handler.getItemsAfter === "function";
}

export function isNestable<T>(handler: AnyHandler<T>): handler is DataHandler<T> & Seekable<T> & Nestable<T> {
  const { getItemsBelow, countBelow } = handler;
  return isSeekable(handler) && typeof getItemsBelow === "function" && typeof countBelow === "function";
}
