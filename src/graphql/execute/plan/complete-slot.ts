import type { GraphQLResolveInfo } from "graphql";
import { isThenable, type Owner, Pending, whenSettled } from "./pending.ts";
import type { Path, Run, Slot } from "./run.ts";

/**
 * Completes a value for its type. Returns the completed value, or a `Pending`; throws the error of the value. A leaf needs no
 * `info` and no `path`.
 */
export type CompleteValue = (run: Run, info: GraphQLResolveInfo | null, path: Path | null, value: unknown) => unknown;

/** A slot that values can be completed for. */
export interface CompletingSlot extends Slot {
  readonly complete: CompleteValue;
}

/** Completes a value that may be a promise. Throws only an error that the parent has to handle, which is located. */
export function completeSlot(
  run: Run,
  slot: CompletingSlot,
  info: GraphQLResolveInfo | null,
  path: Path,
  value: unknown,
): unknown {
  try {
    if (isThenable(value)) return new Wait(run, slot, info, path).forPromise(value);
    const completed = slot.complete(run, info, path, value);
    return completed instanceof Pending ? new Wait(run, slot, info, path).forPending(completed) : completed;
  } catch (error) {
    return run.handle(error, slot, path);
  }
}

/** Waits for the value of a slot, and handles its error. */
class Wait extends Pending implements Owner {
  readonly #run: Run;
  readonly #slot: CompletingSlot;
  readonly #info: GraphQLResolveInfo | null;
  readonly #path: Path;

  constructor(run: Run, slot: CompletingSlot, info: GraphQLResolveInfo | null, path: Path) {
    super();
    this.#run = run;
    this.#slot = slot;
    this.#info = info;
    this.#path = path;
  }

  forPromise(promise: PromiseLike<unknown>): this {
    whenSettled(
      promise,
      (value) => this.#complete(value),
      (error) => this.failed(error),
    );
    return this;
  }

  forPending(pending: Pending): this {
    pending.belongsTo(this);
    return this;
  }

  settled(value: unknown): void {
    this.settle(value);
  }

  failed(raw: unknown): void {
    const run = this.#run;
    if (run.isOver) return;
    try {
      run.handle(raw, this.#slot, this.#path);
    } catch (error) {
      this.fail(error);
      return;
    }
    this.settle(null);
  }

  #complete(value: unknown): void {
    if (this.#run.isOver) return;
    let completed: unknown;
    try {
      completed = this.#slot.complete(this.#run, this.#info, this.#path, value);
    } catch (error) {
      this.failed(error);
      return;
    }
    if (completed instanceof Pending) completed.belongsTo(this);
    else this.settle(completed);
  }
}
