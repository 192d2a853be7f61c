import { inBackground } from "../../../core/work/in-background.ts";
import { Slice } from "../../../core/work/slice.ts";
import { forward, Pending } from "./pending.ts";

/** The execution that is divided. */
interface Divided {
  readonly isOver: boolean;
  /** Keeps the batches of loaders open until the function that it returns is called. */
  holdBatches(): () => void;
}

/** Operations with fewer steps never pause. */
const FREE_STEPS = 2_048;
/** How many steps of a list a call of a resolver takes as long as. */
const STEPS_PER_CALL = 8;
/** How many steps an error takes as long as. */
const STEPS_PER_ERROR = 16;

/**
 * Divides an execution into slices of time, so that other requests do not wait until it ends. Only lists begin a pause. The
 * objects and lists around them then pause too, so that fields are resolved in their usual order.
 */
export class Slices {
  readonly #run: Divided;
  readonly #slice = new Slice(FREE_STEPS);
  /** The rest of each list and object that pauses, in the order in which they go on: the innermost one first. */
  #waiting: (() => void)[] = [];
  /** Ends the hold of the batches that the lists add to. */
  #release: (() => void) | null = null;

  constructor(run: Divided) {
    this.#run = run;
  }

  countCall(): void {
    this.#slice.count(STEPS_PER_CALL);
  }

  countError(): void {
    this.#slice.count(STEPS_PER_ERROR);
  }

  /** Whether a list should pause after an item. */
  isOver(): boolean {
    return this.#slice.isOver();
  }

  /** Whether a list or an object pauses now. */
  get isPausing(): boolean {
    return this.#waiting.length > 0;
  }

  /** Continues a list or an object in a later turn of the event loop. Its calls of loaders stay in one batch with the earlier ones. */
  later(next: () => unknown): Pending {
    const pending = new Pending();
    this.#waiting.push(() => forward(next, pending));
    if (this.#release === null) {
      this.#release = this.#run.holdBatches();
      this.#schedule();
    }
    return pending;
  }

  #schedule(): void {
    inBackground(this.#slice.rest().then(() => this.#continue()));
  }

  #continue(): void {
    while (this.#waiting.length > 0 && !this.#run.isOver) {
      const [next, ...others] = this.#waiting;
      this.#waiting = [];
      next?.();
      // A list that pauses again is inside of the others.
      this.#waiting.push(...others);
      if (this.#waiting.length > 0 && this.#slice.isOver()) return this.#schedule();
    }
    this.#waiting = [];
    this.#release?.();
    this.#release = null;
  }
}
