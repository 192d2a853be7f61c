import { BatchQueue, type BatchWork, type Later } from "../../core/work/batch-queue.ts";
import {
  AsyncDataHandler,
  type Capping,
  type DataHandler,
  type FetchContext,
  isNestable,
  type Nestable,
  type ParentKey,
  type ParentSeek,
  type Seekable,
  type SeekRequest,
} from "../../pagination/handlers/data-handler.ts";
import { selectingHandler } from "../../pagination/handlers/selecting-handler.ts";
import { DataHandlerInvalid } from "../../pagination/handlers/totals.ts";

type Source = DataHandler<unknown> & Seekable<unknown> & Nestable<unknown>;

/** The lists of all parents of one level. Those that are read or counted in the same turn need one call of the source. */
export class NestedLists {
  readonly source: Source;
  readonly #later: Later;
  readonly #queues = new Map<string, unknown>();

  /** @param later when the lists of a level are complete */
  constructor(source: Source, later: Later) {
    this.source = source;
    this.#later = later;
  }

  /** @param columns the columns that the rows need; `null` for all of them */
  of(parent: ParentKey, columns: readonly string[] | null): NestedList {
    return new NestedList(this, parent, columns);
  }

  seek(
    place: ParentSeek,
    { order, direction }: SeekRequest,
    limit: number,
    columns: readonly string[] | null,
    context?: FetchContext,
  ): Promise<readonly unknown[]> {
    const name = JSON.stringify([direction, limit, order, columns]);
    const queue = this.#queue<ParentSeek, readonly unknown[]>(name, (seeks) =>
      this.#selecting(columns).getItemsBelow(seeks, { order, direction }, limit, context),
    );
    return queue.add(place);
  }

  #selecting(columns: readonly string[] | null): Source {
    const part = selectingHandler<unknown>(this.source, columns);
    if (isNestable(part)) return part;
    throw new DataHandlerInvalid(this.source, "did not return a handler with getItemsBelow from selecting");
  }

  count(parent: ParentKey, cap: number | null, context?: FetchContext): Promise<number> {
    const queue = this.#queue<ParentKey, number>(`count ${cap}`, (parents) =>
      this.source.countBelow(parents, cap, context),
    );
    return queue.add(parent);
  }

  #queue<I, R>(name: string, work: BatchWork<I, R>): BatchQueue<I, R> {
    const known = this.#queues.get(name) as BatchQueue<I, R> | undefined;
    if (known !== undefined) return known;
    const queue = new BatchQueue<I, R>(async (items) => {
      const results: unknown = await work(items);
      if (Array.isArray(results) && results.length === items.length) return results as (R | Error)[];
      throw new DataHandlerInvalid(this.source, "did not return one result for each parent");
    }, this.#later);
    this.#queues.set(name, queue);
    return queue;
  }
}

/** The list of one parent. */
class NestedList extends AsyncDataHandler<unknown> implements Seekable<unknown>, Capping {
  declare readonly name?: string;
  declare readonly keyOf?: NonNullable<Seekable<unknown>["keyOf"]>;
  readonly uniqueKey: readonly string[];
  readonly #lists: NestedLists;
  readonly #parent: ParentKey;
  readonly #columns: readonly string[] | null;

  /** The list of all parents, and the parent whose items these are. */
  get below(): { readonly source: Source; readonly parent: ParentKey } {
    return { source: this.#lists.source, parent: this.#parent };
  }

  constructor(lists: NestedLists, parent: ParentKey, columns: readonly string[] | null) {
    super();
    const { source } = lists;
    this.#lists = lists;
    this.#parent = parent;
    this.#columns = columns;
    this.uniqueKey = source.uniqueKey;
    if (source.name !== undefined) this.name = source.name;
    if (source.keyOf !== undefined) this.keyOf = source.keyOf.bind(source);
  }

  getItemsAfter(seek: SeekRequest, limit: number, context?: FetchContext): Promise<readonly unknown[]> {
    return this.#lists.seek({ parent: this.#parent, key: seek.key }, seek, limit, this.#columns, context);
  }

  getTotalItems(context?: FetchContext): Promise<number> {
    return this.#lists.count(this.#parent, null, context);
  }

  countUpTo(cap: number, context?: FetchContext): Promise<number> {
    return this.#lists.count(this.#parent, cap, context);
  }

  /** Not called, because a connection seeks. */
  async getItems(): Promise<never> {
    throw new TypeError("a nested list has no offsets");
  }
}
