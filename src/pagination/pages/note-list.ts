import { AsyncLocalStorage } from "node:async_hooks";
import type { AnyHandler } from "../handlers/data-handler.ts";
import type { AnyStrategy } from "../strategies/strategy-by-name.ts";

/** A list that is about to be read. */
export interface ReadList {
  /** The route or the field, such as `GET /books` or `Author.books`. */
  readonly place: string;
  readonly strategy: AnyStrategy;
  readonly handler: AnyHandler<unknown>;
  /** Runs work as a part of the operation that reads the list, whose caller the rules of a guarded table need. */
  readonly within: <R>(work: () => R) => R;
}

const listeners = new Set<(list: ReadList) => void>();

/** Calls a listener for every list that is read, until the returned function is called. */
export function onListRead(listener: (list: ReadList) => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/** Tells the listeners that a list is about to be read. */
export function noteList(strategy: AnyStrategy, handler: AnyHandler<any>, place: string): void {
  if (listeners.size === 0) return;
  const list: ReadList = { place, strategy, handler, within: AsyncLocalStorage.snapshot() };
  for (const listener of listeners) listener(list);
}
