import { ConfigurationError } from "../../core/configuration-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { BatchQueue } from "../../core/work/batch-queue.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { memoOf } from "../../kernel/context/memo-of.ts";
import { openBatchesOf } from "./open-batches.ts";

/** Loads values by their keys and batches the keys that one operation requests at the same time, as DataLoader does. */
export interface Loader<in K, out V> {
  /** Loads the value of a key. Later calls for the same question return the same promise. */
  load(ctx: BaseContext, key: K): Promise<V>;
  /**
   * Removes the cached value of a key, or all of them. Call it after a change that makes them stale, if a rule or a field
   * reads them again before the operation or the root field of the mutation ends.
   */
  clear(ctx: BaseContext, key?: K): void;
}

/**
 * Returns one value for each key, in the order of the keys. An `Error` in the list fails only the key at its position.
 */
export type Batch<K, V> = (
  keys: readonly K[],
  given: { readonly ctx: BaseContext },
) => MaybePromise<readonly (V | Error)[]>;

/**
 * Batches the keys that the fields of one operation request into one call, and caches the values until the operation
 * ends. A thousand books that each load their author cost one call, which solves the N+1 problem.
 *
 * On a socket the values are cached for one message, in the generator of a subscription for one event, and in a mutation for
 * one root field.
 *
 * @example
 * ```ts
 * import { field, loader, t } from "portico/graphql";
 *
 * const names = new Map([["1", "George Eliot"], ["2", "Jane Austen"]]); const authorName = loader((ids: readonly
 * string[]) => ids.map((id) => names.get(id) ?? new Error(`no author ${id}`)));
 *
 * export const author = field(t.string, { params: { id: t.id } })(({ id, ctx }) => authorName.load(ctx, id));
 * ```
 */
export function loader<K, V>(batch: Batch<K, V>): Loader<K, V> {
  if (typeof batch !== "function") throw new ConfigurationError("loader", "called with a batch function", batch);
  const owner = {};
  const queueOf = (ctx: BaseContext): LoadQueue<K, V> => {
    checkContext(ctx);
    return memoOf(ctx, owner, () => new LoadQueue(batch, ctx));
  };
  return Object.freeze({
    load: (ctx: BaseContext, key: K) => queueOf(ctx).load(key),
    clear: (ctx: BaseContext, ...key: [K?]) => queueOf(ctx).clear(...key),
  });
}

/** Catches calls without the context, such as `load(key)`. */
function checkContext(ctx: unknown): void {
  if (typeof ctx === "object" && ctx !== null) return;
  throw new TypeError(
    `the first argument of a loader must be the context of the resolver, load(ctx, key), received ${ctx === null ? "null" : typeof ctx}`,
  );
}

class LoadQueue<K, V> {
  readonly #queue: BatchQueue<K, V>;
  readonly #values = new Map<K, Promise<V>>();

  constructor(batch: Batch<K, V>, ctx: BaseContext) {
    this.#queue = new BatchQueue(async (keys) => {
      const values = await batch(keys, { ctx });
      if (Array.isArray(values) && values.length === keys.length) return values as readonly (V | Error)[];
      throw new TypeError(
        `the batch function of a loader must return one value for each of its ${keys.length} keys, received ${Array.isArray(values) ? values.length : typeof values}`,
      );
    }, openBatchesOf(ctx).afterLists);
  }

  load(key: K): Promise<V> {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const value = this.#queue.add(key);
    this.#values.set(key, value);
    return value;
  }

  clear(...key: [K?]): void {
    if (key.length === 0) this.#values.clear();
    else this.#values.delete(key[0] as K);
  }
}
