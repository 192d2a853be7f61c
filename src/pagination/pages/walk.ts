import { ConfigurationError } from "../../core/configuration-error.ts";
import { isInstance } from "../../core/describe-error.ts";
import { orNull, positiveInteger, resolveOptions, text, thing } from "../../core/resolve-options.ts";
import { openResumePoint, resumePoint } from "../cursor/resume-point.ts";
import { type DataHandler, isDataHandler, isSeekable, type Seekable, type Sorting } from "../handlers/data-handler.ts";
import { keysOf } from "../handlers/keys-of.ts";
import { DataHandlerInvalid } from "../handlers/totals.ts";
import { type KeyedRows, KeyMisfit, type KeyTuple } from "../keys/key-tuple.ts";
import { type Order, orderRule, withUniqueKey } from "../keys/order.ts";
import { InvalidCursorError } from "../query/pagination-error.ts";

export interface WalkOptions<C extends string = string> {
  /** The maximum number of items in a batch. */
  readonly size: number;
  /** The order of the items. The unique key is appended to it. @default the unique key, ascending */
  readonly order?: Order<C>;
  /** The resume point of a batch: the walk continues after it. @default null, the beginning */
  readonly after?: string | null;
  /** Ends the walk with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Some items of a walk. */
export interface WalkBatch<T> {
  /** At least one item. */
  readonly items: readonly T[];
  /**
   * The resume point after these items, for the option `after`. It holds the key of the last item, readable for anyone
   * who has it.
   */
  readonly after: string;
}

/**
 * Reads all items of a data handler in batches. Each batch seeks past the last item of the previous one, so it costs the
 * same at any depth, and inserts and deletes never repeat or skip an item that stays. The next batch is read when it is
 * requested.
 *
 * Throws `ConfigurationError` for a handler that cannot seek, and `InvalidCursorError` for a resume point of another list
 * or order.
 *
 * @example
 * ```ts
 * import type { Kysely } from "kysely";
 * import { walk } from "portico/pagination";
 * import { tableHandler } from "portico/sql";
 *
 * declare const database: Kysely<{ books: { id: string; title: string } }>;
 * declare const progress: { load(): Promise<string | null>; save(after: string): Promise<void> };
 * declare function addToIndex(books: readonly { readonly title: string }[]): Promise<void>;
 *
 * const books = tableHandler(database.selectFrom("books").selectAll());
 * for await (const { items, after } of walk(books, { size: 500, after: await progress.load() })) {
 *   await addToIndex(items);
 *   await progress.save(after);
 * }
 * ```
 */
export function walk<T, C extends string = never>(
  handler: DataHandler<T> & Seekable<T> & Sorting<C>,
  options: WalkOptions<Extract<keyof T, string> | C>,
): AsyncGenerator<WalkBatch<T>, void, undefined> {
  const { size, order: chosen, after, signal } = resolveOptions("walk", options, walkRules);
  if (size === undefined) throw new ConfigurationError("walk.size", "is required");
  if (!isDataHandler(handler))
    throw new ConfigurationError("walk", "requires a data handler, such as the result of tableHandler()");
  if (!isSeekable(handler))
    throw new ConfigurationError(
      "walk",
      `requires a data handler that can seek: implement getItemsAfter in ${(handler as object).constructor.name}`,
    );
  const order = withUniqueKey(chosen ?? [], handler.uniqueKey);
  if (order.length === 0) throw new ConfigurationError("walk.order", "is required if the handler has no unique key");
  const start = after === undefined || after === null ? null : openResumePoint(after, handler.name, order);
  return batches(handler as DataHandler<T> & Seekable<T>, order, size, start, signal ?? new AbortController().signal);
}

async function* batches<T>(
  handler: DataHandler<T> & Seekable<T>,
  order: Order,
  size: number,
  start: KeyTuple | null,
  signal: AbortSignal,
): AsyncGenerator<WalkBatch<T>, void, undefined> {
  for (let key = start; ; ) {
    signal.throwIfAborted();
    const items = await unlessAborted(itemsAfter(handler, order, key, size, signal), signal);
    const last = items.length - 1;
    if (last < 0) return;
    key = keysOf(handler, items, order)(last);
    yield { items, after: resumePoint(key, handler.name, order) };
    if (items.length < size) return;
  }
}

async function itemsAfter<T>(
  handler: DataHandler<T> & Seekable<T>,
  order: Order,
  key: KeyTuple | null,
  size: number,
  signal: AbortSignal,
): Promise<KeyedRows<T>> {
  try {
    const items: unknown = await handler.getItemsAfter({ order, key, direction: "forward" }, size, { signal });
    if (Array.isArray(items) && items.length <= size) return items as readonly T[];
    throw new DataHandlerInvalid(handler, `did not return a list of at most ${size} items`);
  } catch (error) {
    if (!isInstance(error, KeyMisfit)) throw error;
    throw new InvalidCursorError({ parameter: "after", cause: error });
  }
}

/** A statement may hang, so the walk does not wait for it after an abort. */
async function unlessAborted<T>(reading: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason as Error);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([reading, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

const walkRules = {
  size: positiveInteger,
  order: orderRule,
  after: orNull(text),
  signal: thing<AbortSignal>("an AbortSignal", (value) => value instanceof AbortSignal),
};
