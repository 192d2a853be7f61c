import { workTurns } from "./event-loop-turns.ts";

/** How many steps a loop makes before it reads the clock. One object with a few properties is a step, of about 200 ns. */
const STEPS = 256;

/**
 * The budget of time for one piece of work whose size a client chooses: the items of a list, the errors of an operation, the
 * parts of a response. Each loop over it asks `isOver` after a step, and then rests until other work of the process has had its
 * turn. All slices share the time of `workTurns`, so that many requests together do not block the process either.
 */
export class Slice {
  #left: number;

  /** @param free the steps of small work, which never rests */
  constructor(free: number = STEPS) {
    this.#left = free;
  }

  /** Adds steps to the next question. */
  count(steps: number): void {
    this.#left -= steps;
  }

  /**
   * Whether the work has to rest after this step. It stays so until it does.
   *
   * @param steps how many ordinary steps this one takes as long as
   */
  isOver(steps = 1): boolean {
    this.#left -= steps;
    if (this.#left > 0) return false;
    const isOver = workTurns.isOver();
    this.#left = isOver ? 0 : STEPS;
    return isOver;
  }

  /** Resolves when the work may continue, which must follow directly. */
  rest(): Promise<void> {
    return workTurns.take() ?? Promise.resolve();
  }
}
