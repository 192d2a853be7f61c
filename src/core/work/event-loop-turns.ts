import { outsideRequest } from "../outside-request.ts";

/**
 * Shares the event loop among pieces of work that become ready together, such as ten thousand subscribers of one event.
 * Promises alone would run all of them before the next request is read. Waiting work resumes in the order in which it called
 * `take`, one slice per round of the event loop.
 */
export class EventLoopTurns {
  readonly #sliceMs: number;
  #waiting: (() => void)[] = [];
  /** How many of `#waiting` have resumed in this slice, because shifting a long array is linear in its length. */
  #resumed = 0;
  #sliceEnd = 0;
  #isSliceOpen = false;
  readonly #isLeftOut: () => boolean;

  /**
   * @param sliceMs how long this work may hold the event loop in one of its rounds
   * @param isLeftOut returns whether waiting work leaves out this round
   */
  constructor(sliceMs: number, isLeftOut: () => boolean = () => false) {
    this.#sliceMs = sliceMs;
    this.#isLeftOut = isLeftOut;
  }

  /**
   * Call before each piece of work. Returns `undefined` if it may continue at once, otherwise a promise for its turn. The work
   * must follow that promise directly: behind a second promise, it would run after the end of the slice was checked.
   */
  take(): Promise<void> | undefined {
    const isOver = this.isOver();
    if (this.#waiting.length === this.#resumed && !isOver) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Whether the slice of this round is used up. The first call in a round begins it. */
  isOver(): boolean {
    const now = performance.now();
    if (!this.#isSliceOpen) {
      this.#openSlice(now);
      setImmediate(this.#closeSlice);
    }
    return now >= this.#sliceEnd;
  }

  #openSlice(now: number): void {
    this.#isSliceOpen = true;
    this.#sliceEnd = now + this.#sliceMs;
  }

  readonly #closeSlice = (): void => {
    this.#isSliceOpen = false;
    if (this.#resumed > 0) this.#waiting = this.#waiting.slice(this.#resumed);
    this.#resumed = 0;
    if (this.#waiting.length === 0) return;
    // While there is work, slices follow each other: they must not keep the request in memory that opened the first one.
    outsideRequest(() => setImmediate(this.#closeSlice));
    const isLeftOut = this.#isLeftOut();
    this.#openSlice(isLeftOut ? Number.NEGATIVE_INFINITY : performance.now());
    if (!isLeftOut) this.#resume();
  };

  /** Resumes one at a time. The work that resumed before runs between two calls, so the clock shows how long it took. */
  readonly #resume = (): void => {
    this.#waiting[this.#resumed++]?.();
    if (this.#resumed < this.#waiting.length && performance.now() < this.#sliceEnd) queueMicrotask(this.#resume);
  };
}

/** The turns for delivering events to subscribers. */
export const eventTurns: EventLoopTurns = new EventLoopTurns(5);

/** The turns for work whose size a client chooses. A loop over such work takes them through a `Slice`. */
export const workTurns: EventLoopTurns = new EventLoopTurns(10);
