import { randomBytes } from "node:crypto";
import type { Logger } from "../core/logger.ts";
import { resolveOptions } from "../core/resolve-options.ts";
import { encodeEvent, type PubSub, type SubscribeOptions, type Topic } from "../stores/pub-sub.ts";
import { Subscription } from "../stores/subscription.ts";
import { checkRedisUrl } from "./check-redis-url.ts";
import { RedisChannel } from "./redis-channel.ts";
import { RedisConnection } from "./redis-connection.ts";
import { writeMessage } from "./redis-message.ts";
import { type RedisOptions, redisPubSubRules } from "./redis-options.ts";

export interface RedisPubSubOptions extends RedisOptions {
  /** How many events may wait for one subscriber. One more ends its subscription with `PubSubGap`. @default 1_000 */
  readonly maxQueued?: number;
}

/**
 * The bus on Redis: an event reaches the subscribers in all processes.
 *
 * A process subscribes to a topic once, however many subscribers it has, and receives each event once. Events of a
 * topic arrive in the order in which Redis received them. After a lost connection, each subscription ends with
 * `PubSubGap` as soon as there is a new connection, including subscriptions made in between. Until then, `publish`
 * rejects.
 *
 * @example
 * ```ts
 * import { topic } from "portico";
 * import { RedisPubSub } from "portico/redis";
 *
 * const bus = new RedisPubSub("redis://127.0.0.1:6379");
 * const orderPlaced = topic<{ id: string }>("orders.placed");
 *
 * for await (const { id } of bus.subscribe(orderPlaced)) console.log(id);
 * ```
 */
export class RedisPubSub implements PubSub {
  readonly #connection: RedisConnection;
  readonly #prefix: string;
  readonly #maxQueued: number;
  readonly #id = randomBytes(6).toString("base64url");
  #published = 0;
  readonly #channels = new Map<string, RedisChannel>();
  #isClosed = false;

  constructor(url: string, options: RedisPubSubOptions = {}) {
    checkRedisUrl("RedisPubSub.url", url);
    const { prefix, timeoutSeconds, maxQueued } = resolveOptions("RedisPubSub", options, redisPubSubRules);
    this.#connection = new RedisConnection({
      role: "bus",
      url,
      timeoutMs: timeoutSeconds * 1000,
      meanwhile: "events are neither sent nor received",
      onLost: () => this.#miss(),
      onReady: () => this.#tellOfGap(),
    });
    this.#prefix = prefix;
    this.#maxQueued = maxQueued;
  }

  get isConnected(): boolean {
    return this.#connection.isReady;
  }

  /** The number of topics that this process is subscribed to, including those it is unsubscribing from. */
  get topicCount(): number {
    return this.#channels.size;
  }

  start(log: Logger): Promise<void> {
    return this.#connection.start(log);
  }

  check(): Promise<void> {
    return this.#connection.check();
  }

  /** Ends each subscription without an error. Later subscriptions end immediately. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const channel of this.#channels.values()) channel.end();
    await this.settled();
    await this.#connection.close();
  }

  async publish<T>(topic: Topic<T>, value: NoInfer<T>): Promise<void> {
    const text = encodeEvent(topic.name, value);
    const message = writeMessage({ text, sender: this.#id, number: ++this.#published });
    const command = ["PUBLISH", this.#channelName(topic.name), message];
    const send = (): Promise<unknown> => this.#connection.send(command);
    await (this.#channels.get(topic.name)?.whenSettled(send) ?? send());
  }

  subscribe<T>(topic: Topic<T>, options: SubscribeOptions = {}): AsyncIterable<T, void, void> {
    return { [Symbol.asyncIterator]: () => this.#open<T>(topic.name, options.signal) };
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#channels.values()].map((channel) => channel.whenSettled(async () => {})));
  }

  #open<T>(topic: string, signal: AbortSignal | undefined): Subscription<T> {
    const subscription = new Subscription<T>({
      topic,
      maxQueued: this.#maxQueued,
      signal,
      onClose: () => this.#channels.get(topic)?.remove(subscription),
    });
    if (this.#isClosed) void subscription.return();
    if (!subscription.isOpen) return subscription;
    // Events that were sent earlier may still be on their way to older subscribers.
    const before = this.#published;
    this.#channel(topic).add(subscription, ({ sender, number }) => sender !== this.#id || number > before);
    return subscription;
  }

  #channel(topic: string): RedisChannel {
    const present = this.#channels.get(topic);
    if (present !== undefined) return present;
    const channel = new RedisChannel(this.#connection, this.#channelName(topic), () => {
      if (this.#channels.get(topic) === channel) this.#channels.delete(topic);
    });
    this.#channels.set(topic, channel);
    return channel;
  }

  #channelName(topic: string): string {
    return `${this.#prefix}:bus:${topic}`;
  }

  #miss(): void {
    for (const channel of this.#channels.values()) channel.miss();
  }

  /**
   * Subscriptions end when the connection is back, not when it is lost. Otherwise, a subscriber that subscribes again
   * and reloads could miss the events in between.
   */
  #tellOfGap(): void {
    for (const [topic, channel] of this.#channels) {
      if (!channel.isMissed) continue;
      this.#channels.delete(topic);
      channel.lose("the connection to Redis was lost");
    }
  }
}
