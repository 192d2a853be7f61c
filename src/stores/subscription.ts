import type { MaybePromise } from "../core/maybe-promise.ts";
import { PubSubGap } from "./pub-sub.ts";

export interface QueueOptions {
  /** The name of the topic. */
  readonly topic: string;
  /** The maximum number of unread events. */
  readonly maxQueued: number;
  /** Ends the subscription when it is aborted. */
  readonly signal: AbortSignal | undefined;
  /** Called once, when no more events are wanted. It is not called for a subscription that had ended before it was made. */
  readonly onClose: () => void;
}

type Waiting = PromiseWithResolvers<string | null>;

/**
 * One subscriber's end of a topic, for every bus: the bus delivers texts on one side, an iterator returns values on the other.
 * Unread events wait in a queue; an event that finds it full is the gap.
 */
export class Subscription<T> implements AsyncIterator<T, void, void> {
  readonly #options: QueueOptions;
  #queued: string[] = [];
  /** Calls of `next()` that wait for an event; while there are any, the queue is empty. */
  #waiting: Waiting[] = [];
  #gap: PubSubGap | null = null;
  #isOpen: boolean;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#isOpen = options.signal?.aborted !== true;
    if (this.#isOpen) options.signal?.addEventListener("abort", this.#end);
  }

  /** Whether events are still wanted. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The number of unread events. */
  get queued(): number {
    return this.#queued.length;
  }

  /** Takes one event from the bus, as text. */
  deliver(text: string): void {
    if (!this.#isOpen) return;
    const first = this.#waiting.shift();
    if (first !== undefined) first.resolve(text);
    else if (this.#queued.length < this.#options.maxQueued) this.#queued.push(text);
    else this.lose(`the subscriber was ${this.#options.maxQueued} events behind`);
  }

  /** Events may have been lost here: the iterator returns those that came before, then throws. */
  lose(reason: string, options: { readonly cause?: unknown } = {}): void {
    if (!this.#isOpen) return;
    const gap = new PubSubGap(this.#options.topic, reason, options);
    const first = this.#waiting.shift();
    if (first === undefined) this.#gap = gap;
    else first.reject(gap);
    this.#close();
  }

  async next(): Promise<IteratorResult<T, void>> {
    if (this.#options.signal?.aborted === true) this.#end();
    const text = this.#queued.shift() ?? (await this.#wait());
    return text === null ? { done: true, value: undefined } : { done: false, value: JSON.parse(text) as T };
  }

  #wait(): MaybePromise<string | null> {
    const gap = this.#gap;
    if (gap !== null) {
      this.#gap = null;
      throw gap;
    }
    if (!this.#isOpen) return null;
    const waiting: Waiting = Promise.withResolvers();
    this.#waiting.push(waiting);
    return waiting.promise;
  }

  async return(): Promise<IteratorResult<T, void>> {
    this.#end();
    return { done: true, value: undefined };
  }

  readonly #end = (): void => {
    this.#queued = [];
    this.#gap = null;
    this.#close();
  };

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#options.signal?.removeEventListener("abort", this.#end);
    for (const { resolve } of this.#waiting) resolve(null);
    this.#waiting = [];
    this.#options.onClose();
  }
}

/** The number of unread events in all of them. */
export function queuedIn(subscriptions: Iterable<Subscription<unknown>>): number {
  let sum = 0;
  for (const { queued } of subscriptions) sum += queued;
  return sum;
}
