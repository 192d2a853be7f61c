import { ConfigurationError } from "../../core/configuration-error.ts";
import { resolveOptions, text, textList } from "../../core/resolve-options.ts";
import { keyOfItem } from "../keys/key-of-item.ts";
import { compareKeys, type KeyTuple } from "../keys/key-tuple.ts";
import type { Order } from "../keys/order.ts";
import {
  type AnyHandler,
  AsyncDataHandler,
  type Counted,
  isDataHandler,
  type Seekable,
  type SeekRequest,
  SyncDataHandler,
} from "./data-handler.ts";

/** Options of a list data handler. */
export interface ListHandlerOptions {
  /** Scope of this list's cursors. @default the route's pattern or the field's coordinate */
  readonly name?: string;
  /** Fields that together identify an item. They break ties in a cursor's order. @default ["id"], if items have one */
  readonly uniqueKey?: readonly string[];
}

/**
 * A list in memory. With a cursor strategy, its items are sorted by the strategy's order.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { SyncListDataHandler } from "portico/pagination";
 *
 * const books = new SyncListDataHandler([{ isbn: "9780141439587" }], { name: "books", uniqueKey: ["isbn"] });
 * new PorticoApp().get("/books", ({ response }) => response.paginate(books, { strategy: "cursor", sortField: "isbn" }));
 * ```
 */
export class SyncListDataHandler<T> extends SyncDataHandler<T> implements Seekable<T>, Counted {
  declare readonly name?: string;
  readonly uniqueKey: readonly string[];
  readonly isCounted = true as const;
  readonly #items: readonly T[];

  constructor(items: readonly T[], options: ListHandlerOptions = {}) {
    super();
    const { name, uniqueKey } = readOptions(items, options);
    this.#items = items;
    if (name !== undefined) this.name = name;
    this.uniqueKey = uniqueKey;
  }
  getTotalItems(): number {
    return this.#items.length;
  }
  getItems(offset: number, limit: number): readonly T[] {
    return this.#items.slice(offset, offset + limit);
  }
  getItemsAfter(seek: SeekRequest, limit: number): readonly T[] {
    return itemsAfter(this.#items, seek, limit);
  }
}

/** Returns a data handler for a list, a data handler as it is, and `null` for anything else. */
export function asHandler(data: unknown): AnyHandler<unknown> | null {
  if (Array.isArray(data)) return new SyncListDataHandler<unknown>(data);
  return isDataHandler(data) ? data : null;
}

/** A list in memory that is read asynchronously. */
export class AsyncListDataHandler<T> extends AsyncDataHandler<T> implements Seekable<T>, Counted {
  declare readonly name?: string;
  readonly uniqueKey: readonly string[];
  readonly isCounted = true as const;
  readonly #list: SyncListDataHandler<T>;

  constructor(items: readonly T[], options: ListHandlerOptions = {}) {
    super();
    this.#list = new SyncListDataHandler(items, options);
    const { name, uniqueKey } = this.#list;
    if (name !== undefined) this.name = name;
    this.uniqueKey = uniqueKey;
  }
  async getTotalItems(): Promise<number> {
    return this.#list.getTotalItems();
  }
  async getItems(offset: number, limit: number): Promise<readonly T[]> {
    return this.#list.getItems(offset, limit);
  }
  async getItemsAfter(seek: SeekRequest, limit: number): Promise<readonly T[]> {
    return this.#list.getItemsAfter(seek, limit);
  }
}

/** Returns the list with other items. */
export function withItems<T>(
  list: SyncListDataHandler<T> | AsyncListDataHandler<T>,
  items: readonly T[],
): SyncListDataHandler<T> | AsyncListDataHandler<T> {
  const { name, uniqueKey } = list;
  const List = list instanceof SyncListDataHandler ? SyncListDataHandler : AsyncListDataHandler;
  return new List(items, { uniqueKey, ...(name === undefined ? {} : { name }) });
}

const listRules = {
  name: text,
  uniqueKey: textList("a list of field names"),
};

function readOptions(
  items: unknown,
  options: ListHandlerOptions,
): { readonly name: string | undefined; readonly uniqueKey: readonly string[] } {
  if (!Array.isArray(items)) throw new ConfigurationError("the items of a list data handler", "a list", items);
  const { name, uniqueKey } = resolveOptions("ListHandlerOptions", options, listRules);
  const [first] = items as unknown[];
  const hasId = typeof first === "object" && first !== null && "id" in first;
  return { name, uniqueKey: uniqueKey ?? (hasId ? ["id"] : []) };
}

interface Placed<T> {
  readonly item: T;
  readonly key: KeyTuple;
}

function itemsAfter<T>(items: readonly T[], { order, key, direction }: SeekRequest, limit: number): readonly T[] {
  const placed = inOrder(items, order);
  const isForward = direction === "forward";
  const start = key === null ? (isForward ? 0 : placed.length) : boundary(placed, key, order, isForward);
  const window = isForward ? placed.slice(start, start + limit) : placed.slice(Math.max(0, start - limit), start);
  const found = window.map(({ item }) => item);
  return isForward ? found : found.reverse();
}

/** Sorts the items. A list that is already sorted, which is the usual case, is only scanned. */
function inOrder<T>(items: readonly T[], order: Order): readonly Placed<T>[] {
  const placed = items.map((item): Placed<T> => ({ item, key: keyOfItem(item, order) }));
  const isSorted = placed.every((entry, at) => at === 0 || compareTuples(keyAt(placed, at - 1), entry.key, order) < 0);
  if (isSorted) return placed;
  const sorted = placed.toSorted((a, b) => compareTuples(a.key, b.key, order));
  const twin = sorted.findIndex((entry, at) => at > 0 && compareTuples(keyAt(sorted, at - 1), entry.key, order) === 0);
  if (twin < 0) return sorted;
  const columns = order.map(([column]) => column).join(", ");
  throw new TypeError(`two items of the list have the same ${columns}: set uniqueKey to fields that identify an item`);
}

function keyAt<T>(placed: readonly Placed<T>[], at: number): KeyTuple {
  return (placed[at] as Placed<T>).key;
}

/** Returns the index of the first item after the key, or, going backward, of the first item that is not before it. */
function boundary<T>(placed: readonly Placed<T>[], key: KeyTuple, order: Order, isForward: boolean): number {
  let [low, high] = [0, placed.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const place = compareTuples(keyAt(placed, middle), key, order);
    if (place < 0 || (isForward && place === 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compareTuples(a: KeyTuple, b: KeyTuple, order: Order): number {
  for (const [index, column] of order.entries()) {
    const place = compareKeys(a[index] ?? null, b[index] ?? null, column);
    if (place !== 0) return place;
  }
  return 0;
}
