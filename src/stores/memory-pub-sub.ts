import { optional, positiveInteger, resolveOptions } from "../core/resolve-options.ts";
import { encodeEvent, type PubSub, type SubscribeOptions, type Topic, transientName } from "./pub-sub.ts";
import { queuedIn, Subscription } from "./subscription.ts";

export interface MemoryPubSubOptions {
  /** Events that may wait for one subscriber; one more ends the subscription with `PubSubGap`. @default 1_000 */
  readonly maxQueued?: number;
}

const rules = { maxQueued: optional(positiveInteger, 1_000) };

/**
 * A bus that reaches only the subscribers in this process.
 *
 * Values go through JSON as over a network, so that a program behaves alike on another bus: a `Date` arrives as a string, and
 * no two subscribers share an object.
 */
export class MemoryPubSub implements PubSub {
  readonly #maxQueued: number;
  readonly #topics = new Map<string, Set<Subscription<unknown>>>();

  constructor(options: MemoryPubSubOptions = {}) {
    this.#maxQueued = resolveOptions("MemoryPubSub", options, rules).maxQueued;
  }

  /** The number of topics with subscribers. */
  get topicCount(): number {
    return this.#topics.size;
  }

  get waitingCount(): number {
    return [...this.#topics.values()].reduce((sum, subscriptions) => sum + queuedIn(subscriptions), 0);
  }

  async publish<T>(topic: Topic<T>, value: NoInfer<T>): Promise<void> {
    const name = transientName(topic);
    const text = encodeEvent(name, value);
    for (const subscription of this.#topics.get(name) ?? []) subscription.deliver(text);
  }

  subscribe<T>(topic: Topic<T>, options: SubscribeOptions = {}): AsyncIterable<T, void, void> {
    const name = transientName(topic);
    return { [Symbol.asyncIterator]: () => this.#open<T>(name, options.signal) };
  }

  /** There are no other processes to wait for. */
  async settled(): Promise<void> {}

  #open<T>(topic: string, signal: AbortSignal | undefined): Subscription<T> {
    const subscription = new Subscription<T>({
      topic,
      maxQueued: this.#maxQueued,
      signal,
      onClose: () => this.#remove(topic, subscription),
    });
    if (!subscription.isOpen) return subscription;
    const subscriptions = this.#topics.get(topic) ?? new Set();
    this.#topics.set(topic, subscriptions.add(subscription));
    return subscription;
  }

  #remove(topic: string, subscription: Subscription<unknown>): void {
    const subscriptions = this.#topics.get(topic);
    if (subscriptions?.delete(subscription) === true && subscriptions.size === 0) this.#topics.delete(topic);
  }
}
