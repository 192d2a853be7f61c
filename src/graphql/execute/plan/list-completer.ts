import { GraphQLError, type GraphQLResolveInfo } from "graphql";
import { inBackground } from "../../../core/work/in-background.ts";
import { isGraphql17 } from "../../selection/is-graphql17.ts";
import { type CompleteValue, type CompletingSlot, completeSlot } from "./complete-slot.ts";
import { Gather, gatherInto } from "./gather.ts";
import { forward, Pending } from "./pending.ts";
import type { Path, Run } from "./run.ts";

/**
 * Completes the items of a list.
 *
 * @param place type and name of the field, for errors
 */
export function listCompleter(item: CompletingSlot, place: string): CompleteValue {
  return (run, info, path, value) => {
    if (value instanceof Error) throw value;
    if (value === null || value === undefined) return null;
    const list = new ListCompletion(run, item, info, path as Path);
    if (isGraphql17 && isAsyncIterable(value)) return list.fromAsync(value);
    if (Array.isArray(value) && value[Symbol.iterator] === Array.prototype[Symbol.iterator])
      return list.fromArray(value);
    if (isIterable(value)) return list.from(value);
    throw new GraphQLError(`Expected Iterable, but did not find one for field "${place}".`);
  };
}

/** The completion of one list. */
class ListCompletion {
  readonly #run: Run;
  readonly #item: CompletingSlot;
  readonly #info: GraphQLResolveInfo | null;
  readonly #path: Path;
  readonly #completed: unknown[] = [];
  #gather: Gather | null = null;

  constructor(run: Run, item: CompletingSlot, info: GraphQLResolveInfo | null, path: Path) {
    this.#run = run;
    this.#item = item;
    this.#info = info;
    this.#path = path;
  }

  fromArray(items: readonly unknown[]): unknown {
    const run = this.#run;
    const completed = this.#completed;
    // As with an iterator, items that are added meanwhile count.
    while (completed.length < items.length) {
      const item = items[completed.length];
      try {
        this.#add(item);
      } catch (error) {
        ignoreRejections(items, completed.length + 1);
        throw error;
      }
      if (run.slices.isOver()) return run.slices.later(() => this.fromArray(items));
    }
    return this.#result();
  }

  from(items: Iterable<unknown>): unknown {
    return this.#fromIterator(items[Symbol.iterator]());
  }

  #fromIterator(iterator: Iterator<unknown>): unknown {
    const { slices } = this.#run;
    for (let step = iterator.next(); step.done !== true; step = iterator.next()) {
      try {
        this.#add(step.value);
      } catch (error) {
        close(iterator);
        throw error;
      }
      if (slices.isOver()) return slices.later(() => this.#fromIterator(iterator));
    }
    return this.#result();
  }

  fromAsync(items: AsyncIterable<unknown>): Pending {
    const pending = new Pending();
    // graphql waits for the items only after the last one.
    this.#gather = new Gather(this.#completed, { isOrdered: true });
    inBackground(this.#addAll(items[Symbol.asyncIterator](), pending));
    return pending;
  }

  /** Settles the list in the turn of its last item, before the promises of its items call back. */
  async #addAll(iterator: AsyncIterator<unknown>, list: Pending): Promise<void> {
    try {
      for (;;) {
        const step = await this.#next(iterator);
        if (step.done === true) break;
        if (this.#run.isOver) return await closeQuietly(iterator);
        this.#add(step.value);
        if (this.#run.slices.isOver()) await this.#pause();
      }
    } catch (error) {
      inBackground(closeQuietly(iterator));
      list.fail(error);
      return;
    }
    forward(() => this.#result(), list);
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#run.slices.later(resolve);
    });
  }

  /** The error of an iterator is located at the list. */
  async #next(iterator: AsyncIterator<unknown>): Promise<IteratorResult<unknown>> {
    try {
      return await iterator.next();
    } catch (error) {
      throw this.#run.locate(error, this.#item, this.#path);
    }
  }

  #add(item: unknown): void {
    const index = this.#completed.length;
    const path = { prev: this.#path, key: index, typename: undefined };
    const value = completeSlot(this.#run, this.#item, this.#info, path, item);
    if (value instanceof Pending) {
      this.#gather = gatherInto(this.#gather, this.#completed, index, value);
      this.#completed.push(null);
    } else this.#completed.push(value);
  }

  #result(): unknown {
    this.#run.items += this.#completed.length;
    return this.#gather === null ? this.#completed : this.#gather.close();
  }
}

/** Handles the rejections of items that will not be completed, which would otherwise end the process. */
function ignoreRejections(items: readonly unknown[], from: number): void {
  for (let index = from; index < items.length; index++) {
    const item = items[index];
    if (item instanceof Promise) item.catch(() => {});
  }
}

/** As a `for` loop that ends early does. The error that ended it matters more than one from here. */
function close(iterator: Iterator<unknown>): void {
  try {
    iterator.return?.();
  } catch {
    // The list has already failed.
  }
}

async function closeQuietly(iterator: AsyncIterator<unknown>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {
    // The list has already failed with the error that matters.
  }
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === "object" && typeof (value as Iterable<unknown>)[Symbol.iterator] === "function";
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof (value as AsyncIterable<unknown>)[Symbol.asyncIterator] === "function";
}
