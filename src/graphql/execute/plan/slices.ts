import { forward, Pending } from "./pending.ts";
import type { Run } from "./run.ts";

/** How many objects are completed before other work of the process gets a turn. */
export const SLICE = 2_000;

/** Divides the completion of long lists, so that other requests do not wait for all of it. */
export class Slices {
  readonly #run: Run;
  #end = SLICE;
  #waiting: (() => void)[] = [];
  #isScheduled = false;

  constructor(run: Run) {
    this.#run = run;
  }

  /**
   * Whether a list should pause after an item. It never pauses once one of its items has called a resolver: calls of loaders
   * in one list must stay together, so that they become one batch.
   *
   * @param calls how many resolvers were called before the list
   */
  isOver(calls: number): boolean {
    return this.#run.objects >= this.#end && this.#run.calls === calls;
  }

  /** Continues a list in a later turn of the event loop. */
  later(next: () => unknown): Pending {
    const pending = new Pending();
    this.#waiting.push(() => forward(next, pending));
    this.#schedule();
    return pending;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#continue());
  }

  #continue(): void {
    const run = this.#run;
    this.#isScheduled = false;
    this.#end = run.objects + SLICE;
    // The innermost list paused first, so it also continues first.
    while (!run.isOver && run.objects < this.#end) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      next();
    }
    if (!run.isOver) this.#schedule();
  }
}
