import { afterThisTurn, type Later } from "../../core/work/batch-queue.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { memoOf } from "../../kernel/context/memo-of.ts";

/**
 * The batches of one operation. They stay open while one of its lists pauses, so that a pause never divides the calls of a
 * list into several batches.
 */
export class OpenBatches {
  #pauses = 0;
  #waiting: (() => void)[] = [];

  /** Keeps the batches open. Call the returned function once, when the list goes on or has ended. */
  readonly hold = (): (() => void) => {
    this.#pauses++;
    return () => {
      if (--this.#pauses > 0) return;
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const work of waiting) this.afterLists(work);
    };
  };

  /** Runs the work after this turn, or after the lists that pause then. */
  readonly afterLists: Later = (work) =>
    afterThisTurn(() => {
      if (this.#pauses === 0) work();
      else this.#waiting.push(work);
    });
}

/** The batches of the operation with this context. */
export function openBatchesOf(ctx: BaseContext): OpenBatches {
  return memoOf(ctx, OpenBatches, () => new OpenBatches());
}
