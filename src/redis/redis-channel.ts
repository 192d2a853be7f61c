import type { Subscription } from "../stores/subscription.ts";
import type { RedisConnection } from "./redis-connection.ts";
import { type RedisMessage, readMessage } from "./redis-message.ts";

/** Whether a message came after the subscription was made. */
type Wants = (message: RedisMessage) => boolean;

/**
 * One topic on the connection, for all its subscribers in this process: subscribed while there are some.
 *
 * SUBSCRIBE and UNSUBSCRIBE take a while, and one of them is on its way at a time. What this process publishes to the topic
 * meanwhile waits: it would pass those whose subscription it is.
 */
export class RedisChannel {
  readonly #connection: RedisConnection;
  readonly #name: string;
  readonly #onIdle: () => void;
  /** With the test which messages are theirs. */
  readonly #subscriptions = new Map<Subscription<unknown>, Wants>();
  readonly #waiting: (() => void)[] = [];
  #isSubscribed = false;
  #isMoving = false;
  #isMissed = false;

  constructor(connection: RedisConnection, name: string, onIdle: () => void) {
    this.#connection = connection;
    this.#name = name;
    this.#onIdle = onIdle;
  }

  /** Whether events may have been lost: it never carries any again. */
  get isMissed(): boolean {
    return this.#isMissed;
  }

  add(subscription: Subscription<unknown>, wants: Wants): void {
    this.#subscriptions.set(subscription, wants);
    void this.#move();
  }

  remove(subscription: Subscription<unknown>): void {
    this.#subscriptions.delete(subscription);
    void this.#move();
  }

  /** Runs what it is given once the subscription stands: at once, or in the order of the calls. */
  whenSettled<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#isMoving) return work();
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => void work().then(resolve, reject));
    });
  }

  /** The connection that carried it is gone. */
  miss(): void {
    this.#isMissed = true;
  }

  /** Tells each subscriber that events may have been lost. */
  lose(reason: string, options: { readonly cause?: unknown } = {}): void {
    for (const subscription of this.#subscriptions.keys()) subscription.lose(reason, options);
  }

  /** Ends each subscriber without an error. */
  end(): void {
    for (const subscription of this.#subscriptions.keys()) void subscription.return();
  }

  async #move(): Promise<void> {
    if (this.#isMoving) return;
    this.#isMoving = true;
    try {
      while (!this.#isMissed && this.#isSubscribed !== this.#isWanted) await this.#step(this.#isWanted);
    } catch (cause) {
      this.#isMissed = true;
      // Not a broken connection, but Redis that refuses: there will be no other moment to tell.
      if (this.#connection.isReady) this.lose("Redis refused the subscription", { cause });
    }
    this.#isMoving = false;
    for (const run of this.#waiting.splice(0)) run();
    if (!this.#isWanted) this.#onIdle();
  }

  async #step(isWanted: boolean): Promise<void> {
    await this.#connection.run((client) =>
      isWanted ? client.subscribe(this.#name, this.#deliver) : client.unsubscribe(this.#name, this.#deliver),
    );
    this.#isSubscribed = isWanted;
  }

  get #isWanted(): boolean {
    return this.#subscriptions.size > 0;
  }

  readonly #deliver = (received: string): void => {
    this.#connection.noteLife();
    const message = readMessage(received);
    if (message === null) return;
    for (const [subscription, wants] of this.#subscriptions) if (wants(message)) subscription.deliver(message.text);
  };
}
