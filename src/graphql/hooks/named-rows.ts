import type { OperationContext } from "./operation-hook.ts";

/** Names that no operation can have. */
const ANONYMOUS = "<anonymous>";
const OTHER = "<other>";
/** A document may name its operation with all the bytes of a body. */
const LONGEST_NAME = 200;

/**
 * One row per operation name, of which clients may invent as many as they like: there are no more rows than were allowed, and
 * no long names. Unnamed operations share a row, and so do all further names. An operation that was refused before it ran makes
 * no row: it is in the row of its name if there is one, else in that of unnamed operations.
 */
export class NamedRows<T> {
  // A Map: `constructor` is a name like any other.
  readonly #rows = new Map<string, T>();
  readonly #make: () => T;
  readonly #isNew: (name: string, names: number) => boolean;
  #names = 0;

  /** @param names how many, or which */
  constructor(make: () => T, names: number | readonly string[]) {
    this.#make = make;
    const listed = typeof names === "number" ? null : new Set(names);
    this.#isNew = listed === null ? (_name, count) => count < (names as number) : (name) => listed.has(name);
  }

  /** The row of an operation. */
  of({ operationName, isRefused }: OperationContext): T {
    if (operationName === null) return this.#shared(ANONYMOUS);
    const row = this.#rows.get(operationName);
    if (row !== undefined) return row;
    if (isRefused) return this.#shared(ANONYMOUS);
    if (operationName.length > LONGEST_NAME || !this.#isNew(operationName, this.#names)) return this.#shared(OTHER);
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
    const row = this.#make();
    this.#rows.set(name, row);
    return row;
  }
}

/** The name of an operation, in a length that a line of a log can take. */
export function shownName({ operationName }: OperationContext): string {
  if (operationName === null) return ANONYMOUS;
  return operationName.length > LONGEST_NAME ? `${operationName.slice(0, LONGEST_NAME)}...` : operationName;
}
