import { randomBytes } from "node:crypto";
import type { Logger } from "../core/logger.ts";
import { inBackground } from "../core/work/in-background.ts";
import { BusChannel } from "./bus-channel.ts";
import type { BusLink, BusLinkEvents } from "./bus-link.ts";
import { writeMessage } from "./bus-message.ts";
import { encodeEvent, type PubSub, type SubscribeOptions, type Topic, transientName } from "./pub-sub.ts";
import { Subscription } from "./subscription.ts";

export interface ServerPubSubOptions {
  readonly link: (events: BusLinkEvents) => BusLink;
  /** The name of a topic on the server. */
  readonly channelName: (topic: string) => string;
  readonly maxQueued: number;
}

/**
 * A bus over a server that sends each message to all current subscribers of its channel, such as Redis or NATS.
 *
 * A process subscribes to a topic once, however many subscribers it has, and receives each event once. After a lost
 * connection, each subscription ends with `PubSubGap` as soon as there is a new connection, including subscriptions made in
 * between. Until then, `publish` rejects.
 */
export abstract class ServerPubSub implements PubSub {
  readonly #link: BusLink;
  readonly #channelName: (topic: string) => string;
  readonly #maxQueued: number;
  readonly #id = randomBytes(6).toString("base64url");
  #published = 0;
  readonly #channels = new Map<string, BusChannel>();
  #isClosed = false;

  constructor(options: ServerPubSubOptions) {
    const { link, channelName, maxQueued } = options;
    this.#link = link({ onLost: (isLost) => this.#miss(isLost), onReady: () => this.#tellOfGap() });
    this.#channelName = channelName;
    this.#maxQueued = maxQueued;
  }

  get isConnected(): boolean {
    return this.#link.isReady();
  }

  /** The number of topics that this process is subscribed to, including those it is unsubscribing from. */
  get topicCount(): number {
    return this.#channels.size;
  }

  get waitingCount(): number {
    return [...this.#channels.values()].reduce((sum, { waitingCount }) => sum + waitingCount, 0);
  }

  start(log: Logger): Promise<void> {
    return this.#link.start(log);
  }

  check(): Promise<void> {
    return this.#link.check();
  }

  /** Ends each subscription without an error. Later subscriptions end immediately. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const channel of this.#channels.values()) channel.end();
    await this.settled();
    await this.#link.close();
  }

  async publish<T>(topic: Topic<T>, value: NoInfer<T>): Promise<void> {
    const topicName = transientName(topic);
    const text = encodeEvent(topicName, value);
    const message = writeMessage({ text, sender: this.#id, number: ++this.#published });
    const name = this.#channelName(topicName);
    const send = (): Promise<unknown> => this.#link.publish(name, message);
    await (this.#channels.get(topicName)?.whenSettled(send) ?? send());
  }

  subscribe<T>(topic: Topic<T>, options: SubscribeOptions = {}): AsyncIterable<T, void, void> {
    const name = transientName(topic);
    return { [Symbol.asyncIterator]: () => this.#open<T>(name, options.signal) };
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#channels.values()].map((channel) => channel.settled()));
  }

  #open<T>(topic: string, signal: AbortSignal | undefined): Subscription<T> {
    const subscription = new Subscription<T>({
      topic,
      maxQueued: this.#maxQueued,
      signal,
      onClose: () => this.#channels.get(topic)?.remove(subscription),
    });
    if (this.#isClosed) inBackground(subscription.return());
    if (!subscription.isOpen) return subscription;
    // Events that were sent earlier may still be on their way to older subscribers.
    const before = this.#published;
    this.#channel(topic).add(subscription, ({ sender, number }) => sender !== this.#id || number > before);
    return subscription;
  }

  #channel(topic: string): BusChannel {
    const present = this.#channels.get(topic);
    if (present !== undefined) return present;
    const channel = new BusChannel(this.#link, this.#channelName(topic), () => {
      if (this.#channels.get(topic) === channel) this.#channels.delete(topic);
    });
    this.#channels.set(topic, channel);
    return channel;
  }

  #miss(isLost: (channel: string) => boolean): void {
    for (const channel of this.#channels.values()) if (isLost(channel.name)) channel.miss();
  }

  /**
   * Subscriptions end when the connection is back, not when it is lost. Otherwise, a subscriber that subscribes again
   * and reloads could miss the events in between.
   */
  #tellOfGap(): void {
    for (const [topic, channel] of this.#channels) {
      if (!channel.isMissed || !this.#link.isReady(channel.name)) continue;
      this.#channels.delete(topic);
      channel.lose(`the connection to ${this.#link.server} was lost`);
    }
  }
}
