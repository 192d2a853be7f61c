import type { Subscription } from "../stores/subscription.ts";
import type { RedisConnection } from "./redis-connection.ts";
import { type RedisMessage, readMessage } from "./redis-message.ts";

/** Returns whether a message arrived after the subscription was made. */
type Wants = (message: RedisMessage) => boolean;

/**
 * A topic on the connection, shared by all its subscribers in this process and subscribed while it has any.
 *
 * Only one SUBSCRIBE or UNSUBSCRIBE is in flight at a time. Events that this process publishes to the topic meanwhile
 * have to wait, because its own subscribers would miss them.
 */
export class RedisChannel {
  readonly #connection: RedisConnection;
  readonly #name: string;
  readonly #onIdle: () => void;
  /** Each subscriber, with the test for the messages that it receives. */
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

  /** Whether events may have been lost. The channel is then never used again. */
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

  /** Runs `work` once the subscription is active: immediately, or in the order of the calls. */
  whenSettled<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#isMoving) return work();
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => void work().then(resolve, reject));
    });
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
    for (const subscription of this.#subscriptions.keys()) void subscription.return();
  }

  async #move(): Promise<void> {
    if (this.#isMoving) return;
    this.#isMoving = true;
    try {
      while (!this.#isMissed && this.#isSubscribed !== this.#isWanted) await this.#step(this.#isWanted);
    } catch (cause) {
      this.#isMissed = true;
      // The connection works, but Redis rejected the command, so subscribers have to be notified now.
      if (this.#connection.isReady) this.lose("Redis rejected the subscription", { cause });
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
