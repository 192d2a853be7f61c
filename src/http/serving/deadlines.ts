import { outside } from "../../core/outside.ts";

/** How much too early a timer may fire. */
const EARLY_MS = 1;

/** A time limit that has started. */
export interface Deadline {
  /** Ends it early. */
  cancel(): void;
}

/**
 * Time limits for requests. All limits of one length share a timer, because a timer of its own would cost a small request more
 * than its routing does.
 */
export class Deadlines {
  readonly #byLength = new Map<number, Queue>();

  /** Calls `over` after this time, with the async context of this call. The process does not wait for it. */
  start(ms: number, over: () => void): Deadline {
    let queue = this.#byLength.get(ms);
    if (queue === undefined) {
      queue = new Queue(ms, () => void this.#byLength.delete(ms));
      this.#byLength.set(ms, queue);
    }
    return queue.add(over);
  }
}

class Started implements Deadline {
  readonly at: number;
  readonly #queue: Set<Started>;
  #isCancelled = false;
  #resolve: () => void = ignore;

  constructor(queue: Set<Started>, at: number, over: () => void) {
    this.#queue = queue;
    this.at = at;
    const ended = new Promise<void>((resolve) => {
      this.#resolve = resolve;
    });
    // A reaction of a promise keeps the async context, for a tenth of what a snapshot costs.
    void ended.then(() => {
      if (!this.#isCancelled) over();
    });
  }

  end(): void {
    this.#resolve();
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#queue.delete(this);
  }
}

function ignore(): void {}

/** Limits of one length. They end in the order in which they started, which is the order of a `Set`. */
class Queue {
  readonly #ms: number;
  readonly #isEmpty: () => void;
  readonly #started = new Set<Started>();

  constructor(ms: number, isEmpty: () => void) {
    this.#ms = ms;
    this.#isEmpty = isEmpty;
    this.#wait(ms);
  }

  add(over: () => void): Deadline {
    const started = new Started(this.#started, performance.now() + this.#ms, over);
    this.#started.add(started);
    return started;
  }

  #wait(ms: number): void {
    // The timer serves many requests, and must not keep the first of them in memory.
    outside(() => setTimeout(() => this.#endThose(performance.now() + EARLY_MS), ms).unref());
  }

  #endThose(until: number): void {
    for (const started of this.#started) {
      if (started.at > until) return this.#wait(started.at - until + EARLY_MS);
      this.#started.delete(started);
      started.end();
    }
    this.#isEmpty();
  }
}
