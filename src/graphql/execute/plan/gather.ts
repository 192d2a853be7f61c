import { isGraphql17 } from "../../selection/is-graphql17.ts";
import { type Owner, Pending } from "./pending.ts";

type Target = Record<string | number, unknown>;

/**
 * An object or a list of the response some of whose values are pending. It fails with the first of them that fails. Values can
 * settle while others are still added, because a long list pauses.
 */
export class Gather extends Pending implements Owner {
  readonly #target: Target;
  /** The values that are pending, and one more until all of them are known. */
  #left = 1;
  #isOpen = true;
  #isOver = false;
  /** The error to fail with. */
  #failure: { readonly key: string | number; readonly error: unknown } | null = null;
  readonly #isOrdered: boolean;

  /** @param isOrdered of the values that fail before the last one is added, the first in the list decides */
  constructor(target: object, { isOrdered = false }: { readonly isOrdered?: boolean } = {}) {
    super();
    this.#target = target as Target;
    this.#isOrdered = isOrdered;
  }

  add(key: string | number, value: Pending): void {
    this.#left++;
    value.belongsTo(this, key);
  }

  /** The error of a value that has failed already; `null` if none has. */
  get failure(): { readonly error: unknown } | null {
    return this.#failure;
  }

  settled(value: unknown, key: string | number): void {
    this.#target[key] = value;
    if (--this.#left === 0) this.#end();
  }

  failed(error: unknown, key: string | number): void {
    const isBefore = this.#isOrdered && this.#isOpen && this.#failure !== null && key < this.#failure.key;
    if (this.#failure === null || isBefore) this.#failure = { key, error };
    if (this.#isOpen) this.#left--;
    else this.#end();
  }

  /** Returns the object or list after the last value was added: itself if it is complete, or this `Pending`. */
  close(): unknown {
    this.#isOpen = false;
    this.#left--;
    if (this.#failure !== null) throw this.#failure.error;
    return this.#left === 0 ? this.#target : this;
  }

  /** Fails with an error of its own once the values that are already pending have settled: at once if a pause has seen them settle. */
  failLater(error: unknown): this {
    this.#isOpen = false;
    if (--this.#left === 0) throw error;
    this.#failure = { key: 0, error };
    return this;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#failure === null) this.settle(this.#target);
    else this.fail(this.#failure.error);
  }
}

/** Adds a pending value to the object or list that it belongs to. */
export function gatherInto(gather: Gather | null, target: object, key: string | number, value: Pending): Gather {
  const all = gather ?? new Gather(target);
  all.add(key, value);
  return all;
}

/**
 * Fails an object because one of its fields did. graphql 16 waits for the fields that are already running, and reports their
 * errors too; graphql 17 does not.
 */
export function failObject(gather: Gather | null, error: unknown): Gather {
  if (gather === null || isGraphql17) throw error;
  return gather.failLater(error);
}
