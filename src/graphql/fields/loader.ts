import { ConfigurationError } from "../../core/configuration-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../../http/context/http-context.ts";

/** Loads one value by its key; the keys that one operation asks for in the meantime are loaded together. */
export interface Loader<in K, out V> {
  /** The value of a key. Asked again in the same operation, the same promise. */
  load(ctx: BaseContext, key: K): Promise<V>;
  /** Forgets a key, or all of them, for this operation: after a change that makes them stale. */
  clear(ctx: BaseContext, key?: K): void;
}

/** Loads many values: one for each key, in the order of the keys. An `Error` in a key's place fails that key alone. */
export type Batch<K, V> = (
  keys: readonly K[],
  given: { readonly ctx: BaseContext },
) => MaybePromise<readonly (V | Error)[]>;

/**
 * Batches the keys that the fields of one operation ask for into one call, and keeps the values until the operation ends.
 * A thousand books that each load their author cost one call.
 *
 * @example
 * ```ts
 * import { field, loader, t } from "portico/graphql";
 *
 * const names = new Map([["1", "George Eliot"], ["2", "Jane Austen"]]);
 * const authorName = loader((ids: readonly string[]) => ids.map((id) => names.get(id) ?? new Error(`no author ${id}`)));
 *
 * export const author = field(t.string, { params: { id: t.id } })(({ id, ctx }) => authorName.load(ctx, id));
 * ```
 */
export function loader<K, V>(batch: Batch<K, V>): Loader<K, V> {
  if (typeof batch !== "function") throw new ConfigurationError("loader", "given a function of keys", batch);
  // By context: an operation has its own, and its values go with it.
  const queues = new WeakMap<BaseContext, LoadQueue<K, V>>();
  const queueOf = (ctx: BaseContext): LoadQueue<K, V> => {
    const known = queues.get(ctx);
    if (known !== undefined) return known;
    checkContext(ctx);
    const queue = new LoadQueue(batch, ctx);
    queues.set(ctx, queue);
    return queue;
  };
  return Object.freeze({
    load: (ctx: BaseContext, key: K) => queueOf(ctx).load(key),
    clear: (ctx: BaseContext, ...key: [K?]) => {
      checkContext(ctx);
      queues.get(ctx)?.clear(...key);
    },
  });
}

/** Whoever forgets it gives the key in its place. */
function checkContext(ctx: unknown): void {
  if (typeof ctx === "object" && ctx !== null) return;
  throw new TypeError(
    `a loader takes the context of the resolver first, load(ctx, key), and received ${ctx === null ? "null" : typeof ctx}`,
  );
}

interface Waiting<K, V> {
  readonly key: K;
  readonly resolve: (value: V) => void;
  readonly reject: (error: unknown) => void;
}

class LoadQueue<K, V> {
  readonly #batch: Batch<K, V>;
  readonly #ctx: BaseContext;
  readonly #values = new Map<K, Promise<V>>();
  #waiting: Waiting<K, V>[] = [];

  constructor(batch: Batch<K, V>, ctx: BaseContext) {
    this.#batch = batch;
    this.#ctx = ctx;
  }

  load(key: K): Promise<V> {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    if (this.#waiting.length === 0) schedule(() => void this.#dispatch());
    const value = new Promise<V>((resolve, reject) => this.#waiting.push({ key, resolve, reject }));
    this.#values.set(key, value);
    return value;
  }

  clear(...key: [K?]): void {
    if (key.length === 0) this.#values.clear();
    else this.#values.delete(key[0] as K);
  }

  async #dispatch(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      const values = await this.#batch(
        waiting.map(({ key }) => key),
        { ctx: this.#ctx },
      );
      if (!Array.isArray(values) || values.length !== waiting.length)
        throw new TypeError(
          `a loader returns one value for each of its ${waiting.length} keys, received ${Array.isArray(values) ? values.length : typeof values}`,
        );
      waiting.forEach(({ resolve, reject }, index) => {
        const value = values[index] as V | Error;
        if (value instanceof Error) reject(value);
        else resolve(value);
      });
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}

/** After everything that runs in this turn, promises included: until then other fields may ask. */
function schedule(dispatch: () => void): void {
  queueMicrotask(() => process.nextTick(dispatch));
}
