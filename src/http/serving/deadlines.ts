import { outsideRequest } from "../../core/outside-request.ts";

/** How much too early a timer may fire. */
const EARLY_MS = 1;

/**
 * Time limits for requests. All limits of one length share a timer, because a timer of its own would cost a small request more
 * than its routing does.
 */
export class Deadlines {
  readonly #byLength = new Map<number, Queue>();

  /** Calls `over` after this time, outside the async context of any request. The process does not wait for it. */
  start(ms: number, over: () => void): Deadline {
    let queue = this.#byLength.get(ms);
    if (queue === undefined) {
      queue = new Queue(ms, () => {
        this.#byLength.delete(ms);
      });
      this.#byLength.set(ms, queue);
    }
    return queue.add(over);
  }
}

/** A time limit that has started, linked to those that started before and after it. */
export class Deadline {
  readonly at: number;
  readonly over: () => void;
  before: Deadline = this;
  after: Deadline = this;

  constructor(at: number, over: () => void) {
    this.at = at;
    this.over = over;
  }

  /** Ends it early. Has no effect after its end. */
  cancel(): void {
    this.before.after = this.after;
    this.after.before = this.before;
    this.before = this;
    this.after = this;
  }
}

/** Limits of one length. They end in the order in which they started. */
class Queue {
  readonly #ms: number;
  readonly #isEmpty: () => void;
  /** Closes the ring: the first limit comes after it, and the last one before it. */
  readonly #ring = new Deadline(Number.POSITIVE_INFINITY, ignore);

  constructor(ms: number, isEmpty: () => void) {
    this.#ms = ms;
    this.#isEmpty = isEmpty;
    this.#wait(ms);
  }

  add(over: () => void): Deadline {
    const started = new Deadline(performance.now() + this.#ms, over);
    const ring = this.#ring;
    started.before = ring.before;
    started.after = ring;
    ring.before.after = started;
    ring.before = started;
    return started;
  }

  #wait(ms: number): void {
    // The timer serves many requests, and must not keep the first of them in memory.
    outsideRequest(() => setTimeout(() => this.#endThose(performance.now() + EARLY_MS), ms).unref());
  }

  #endThose(until: number): void {
    const ring = this.#ring;
    while (ring.after !== ring) {
      const first = ring.after;
      if (first.at > until) return this.#wait(first.at - until + EARLY_MS);
      first.cancel();
      first.over();
    }
    this.#isEmpty();
  }
}

function ignore(): void {}
