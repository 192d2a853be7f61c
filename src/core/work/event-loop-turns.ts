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
  /** How many of `#waiting` may resume in this slice. Work that waits since it began gets its turn in a later round. */
  #due = 0;
  #sliceEnd = 0;
  #isSliceOpen = false;
  readonly #isLeftOut: () => boolean;

  /**
   * @param sliceMs how long this work may hold the event loop in one of its rounds
   * @param isLeftOut returns whether no work starts in the next round
   */
  constructor(sliceMs: number, isLeftOut: () => boolean = () => false) {
    this.#sliceMs = sliceMs;
    this.#isLeftOut = isLeftOut;
  }

  /**
   * Call before each piece of work. Returns `undefined` if it may continue at once, otherwise a promise for its turn.
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

  /** Lets no work start in the rest of this round. */
  leaveOut(): void {
    if (!this.#isSliceOpen) setImmediate(this.#closeSlice);
    this.#openSlice(Number.NEGATIVE_INFINITY);
  }

  #openSlice(now: number): void {
    this.#isSliceOpen = true;
    this.#sliceEnd = now + this.#sliceMs;
  }

  readonly #closeSlice = (): void => {
    this.#isSliceOpen = false;
    if (this.#resumed > 0) this.#waiting = this.#waiting.slice(this.#resumed);
    this.#resumed = 0;
    this.#due = this.#waiting.length;
    const isLeftOut = this.#isLeftOut();
    if (this.#waiting.length === 0 && !isLeftOut) return;
    // While there is work, slices follow each other: they must not keep the request in memory that opened the first one.
    outsideRequest(() => setImmediate(this.#closeSlice));
    this.#openSlice(isLeftOut ? Number.NEGATIVE_INFINITY : performance.now());
    if (!isLeftOut) this.#resume();
  };

  /** Resumes one at a time, until the slice is used up. */
  readonly #resume = (): void => {
    const isOver = this.#resumed > 0 && performance.now() >= this.#sliceEnd;
    if (isOver || this.#resumed === this.#due) return;
    this.#waiting[this.#resumed++]?.();
    queueMicrotask(this.#resumeNext);
  };

  /**
   * Node runs a tick when all microtasks of the work that resumed before have run, so the clock shows how long that took. Another
   * microtask would overtake work behind a few promises, such as a handler behind asynchronous middleware.
   */
  readonly #resumeNext = (): void => process.nextTick(this.#resume);
}

/** The turns for delivering events to subscribers. */
export const eventTurns: EventLoopTurns = new EventLoopTurns(5);

/** The turns for work whose size a client chooses. A loop over such work takes them through a `Slice`. */
export const workTurns: EventLoopTurns = new EventLoopTurns(10);
