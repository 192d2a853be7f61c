import type { ObservedOperation } from "./observed-operation.ts";

/** Row names that cannot be operation names. */
const ANONYMOUS = "<anonymous>";
/** The operations that were rejected before they ran, without a row of their name. */
const REJECTED = "<rejected>";
const OTHER = "<other>";
/** An operation name can be as long as a whole document. */
const MAX_NAME_LENGTH = 200;

/**
 * One row per operation name. Clients can invent names, so the number of rows and the length of names are limited. Unnamed
 * operations share a row, and so do all further names. An operation that was rejected before it ran never adds a row of its
 * name: it is counted in that row if it exists, otherwise in a row that all such operations share.
 */
export class NamedRows<T> {
  // A Map, because `constructor` is a valid operation name.
  readonly #rows = new Map<string, T>();
  readonly #make: (name: string) => T;
  readonly #isNew: (name: string, names: number) => boolean;
  #names = 0;

  /** @param names the number of names, or a list of them */
  constructor(make: (name: string) => T, names: number | readonly string[]) {
    this.#make = make;
    const listed = typeof names === "number" ? null : new Set(names);
    this.#isNew = listed === null ? (_name, count) => count < (names as number) : (name) => listed.has(name);
  }

  /** The row of an operation. */
  of({ operationName, isRefused }: ObservedOperation): T {
    const row = operationName === null ? undefined : this.#rows.get(operationName);
    if (row !== undefined) return row;
    if (isRefused) return this.#shared(REJECTED);
    if (operationName === null) return this.#shared(ANONYMOUS);
    if (operationName.length > MAX_NAME_LENGTH || !this.#isNew(operationName, this.#names)) return this.#shared(OTHER);
    this.#names++;
    return this.#add(operationName);
  }

  [Symbol.iterator](): IterableIterator<[name: string, row: T]> {
    return this.#rows[Symbol.iterator]();
  }

  clear(): void {
    this.#rows.clear();
    this.#names = 0;
  }

  #shared(name: string): T {
    return this.#rows.get(name) ?? this.#add(name);
  }

  #add(name: string): T {
    const row = this.#make(name);
    this.#rows.set(name, row);
    return row;
  }
}

/** The name of an operation, shortened for the log. */
export function shownName({ operationName }: ObservedOperation): string {
  if (operationName === null) return ANONYMOUS;
  return operationName.length > MAX_NAME_LENGTH ? `${operationName.slice(0, MAX_NAME_LENGTH)}...` : operationName;
}
