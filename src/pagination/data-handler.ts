import type { MaybePromise } from "../core/maybe-promise.ts";
import type { KeyTuple } from "./key-tuple.ts";
import type { Order } from "./order.ts";

/** What a handler may want to know while it fetches. */
export interface FetchContext {
  /** Aborts when the client leaves or the time for an answer is over. */
  readonly signal: AbortSignal;
  /** How many items there are, where they have been counted already: a handler may read from the other end. */
  readonly totalItems?: number;
}

/**
 * A source that answers at once. Both members are required.
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

/** A source that answers later. Both members are required. */
export abstract class AsyncDataHandler<T> {
  /** Scope of this list's cursors. @default the route's pattern or the field's coordinate */
  readonly name?: string;
  abstract getTotalItems(context?: FetchContext): Promise<number>;
  abstract getItems(offset: number, limit: number, context?: FetchContext): Promise<readonly T[]>;
}

export type DataHandler<T> = SyncDataHandler<T> | AsyncDataHandler<T>;

/** A handler of either kind, told apart by `N`: the total, or the promise of it. */
export interface PageSource<T, N extends MaybePromise<number>> {
  readonly name?: string;
  getTotalItems(context?: FetchContext): N;
  getItems(offset: number, limit: number, context?: FetchContext): MaybePromise<readonly T[]>;
}

// ---- what a handler may add; found by presence

/** A place in a list, and the way to go from there. */
export interface SeekRequest {
  /** Total: the handler's unique key is part of it. */
  readonly order: Order;
  /** The rows strictly beyond this key; `null` is the beginning, or going backward the end. */
  readonly key: KeyTuple | null;
  readonly direction: "forward" | "backward";
}

/** What a handler adds when it can start after a key instead of at an offset. */
export interface Seekable<T> {
  /** Columns that no two rows share: they break ties of the order. */
  readonly uniqueKey: readonly string[];
  /** The rows next to the key, the nearest first, also going backward. */
  getItemsAfter(seek: SeekRequest, limit: number, context?: FetchContext): MaybePromise<readonly T[]>;
  /** The key of an item that came from here, where its fields do not tell it exactly. @default its fields */
  keyOf?(item: T, order: Order): KeyTuple;
}

/** What a handler adds when it can guess its total without counting. */
export interface Estimating {
  estimateTotalItems(context?: FetchContext): MaybePromise<number>;
}

/** What a handler adds when it can stop counting. */
export interface Capping {
  /** The number of items, or `cap` when there are as many or more. */
  countUpTo(cap: number, context?: FetchContext): MaybePromise<number>;
}

/** What a handler over a database adds. */
export interface Deep {
  /** Offsets beyond it are refused before anything is read. */
  readonly maxOffset?: number;
  /** Pages that more items would have to be skipped for, from the nearer end where the total is known, are refused. */
  readonly maxSkipped?: number;
  /** Fewer items than asked for are the last ones, so the total is known without counting. */
  readonly endsWhenShort?: boolean;
}

/** What a handler adds when it can sort by columns that its items do not have; only the checker looks at it. */
export interface Sorting<C extends string> {
  readonly "~columns"?: (column: C) => void;
}

/** What a handler adds when its total costs nothing: cursors then report it without being asked to. */
export interface Counted {
  readonly isCounted: true;
}

/** A handler with whatever it adds. */
export type AnyHandler<T> = DataHandler<T> & Partial<Seekable<T> & Estimating & Capping & Deep & Counted>;

export function isDataHandler(value: unknown): value is AnyHandler<unknown> {
  if (typeof value !== "object" || value === null) return false;
  const { getTotalItems, getItems } = value as Partial<DataHandler<unknown>>;
  return typeof getTotalItems === "function" && typeof getItems === "function";
}

export function isSeekable<T>(handler: AnyHandler<T>): handler is DataHandler<T> & Seekable<T> {
  return typeof handler.getItemsAfter === "function";
}
