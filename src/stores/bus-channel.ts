import { inBackground } from "../core/work/in-background.ts";
import type { BusLink } from "./bus-link.ts";
import { type BusMessage, readMessage } from "./bus-message.ts";
import { queuedIn, type Subscription } from "./subscription.ts";

/** The number of events that may wait for a subscription. */
const MAX_WAITING = 10_000;

/** Returns whether a message arrived after the subscription was made. */
type Wants = (message: BusMessage) => boolean;

/**
 * A topic on the server of a bus, shared by all its subscribers in this process and subscribed while it has any.
 *
 * Only one subscription or its end is in flight at a time. Events that this process publishes to the topic meanwhile
 * have to wait, because its own subscribers would miss them.
 */
export class BusChannel {
  readonly #link: BusLink;
  readonly #name: string;
  readonly #onIdle: () => void;
  /** Each subscriber, with the test for the messages that it receives. */
  readonly #subscriptions = new Map<Subscription<unknown>, Wants>();
  readonly #waiting: (() => void)[] = [];
  #isSubscribed = false;
  #isMoving = false;
  #isMissed = false;

  constructor(link: BusLink, name: string, onIdle: () => void) {
    this.#link = link;
    this.#name = name;
    this.#onIdle = onIdle;
  }

  get name(): string {
    return this.#name;
  }

  /** Whether events may have been lost. The channel is then never used again. */
  get isMissed(): boolean {
    return this.#isMissed;
  }

  /** The events that wait for a subscriber or for the server. */
  get waitingCount(): number {
    return this.#waiting.length + queuedIn(this.#subscriptions.keys());
  }

  add(subscription: Subscription<unknown>, wants: Wants): void {
    this.#subscriptions.set(subscription, wants);
    inBackground(this.#move());
  }

  remove(subscription: Subscription<unknown>): void {
    this.#subscriptions.delete(subscription);
    inBackground(this.#move());
  }

  /**
   * Runs `work` once the subscription is active: immediately, or in the order of the calls. Rejects if too much waits already,
   * because the server has not confirmed the subscription.
   */
  async whenSettled<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#isMoving) return work();
    if (this.#waiting.length >= MAX_WAITING)
      throw new Error(`${this.#link.server} has not confirmed a subscription, and ${MAX_WAITING} events wait for it`);
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => void work().then(resolve, reject));
    });
  }

  /** Resolves when no subscription or its end is in flight. */
  settled(): Promise<void> {
    return this.#isMoving ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve();
  }

  /** The connection of this channel was lost. */
  miss(): void {
    this.#isMissed = true;
  }

  /** Notifies each subscriber that events may have been lost. */
  lose(reason: string, options: { readonly cause?: unknown } = {}): void {
    for (const subscription of this.#subscriptions.keys()) subscription.lose(reason, options);
  }

  /** Ends each subscriber without an error. */
  end(): void {
    for (const subscription of this.#subscriptions.keys()) inBackground(subscription.return());
  }

  async #move(): Promise<void> {
    if (this.#isMoving) return;
    this.#isMoving = true;
    try {
      while (!this.#isMissed && this.#isSubscribed !== this.#isWanted) await this.#step(this.#isWanted);
    } catch (cause) {
      this.#isMissed = true;
      // The connection works, but the server rejected the subscription, so subscribers have to be notified now.
      if (this.#link.isReady(this.#name)) this.lose(`${this.#link.server} rejected the subscription`, { cause });
    }
    this.#isMoving = false;
    for (const run of this.#waiting.splice(0)) run();
    if (!this.#isWanted) this.#onIdle();
  }

  async #step(isWanted: boolean): Promise<void> {
    if (isWanted) await this.#link.subscribe(this.#name, this.#deliver);
    else await this.#link.unsubscribe(this.#name, this.#deliver);
    this.#isSubscribed = isWanted;
  }

  get #isWanted(): boolean {
    return this.#subscriptions.size > 0;
  }

  readonly #deliver = (received: string): void => {
    this.#link.noteLife?.(this.#name);
    const message = readMessage(received);
    if (message === null) return;
    for (const [subscription, wants] of this.#subscriptions) if (wants(message)) subscription.deliver(message.text);
  };
}
