import type { RedisClient } from "../../../src/redis/redis-client.ts";

/** A Redis server with pub/sub only. Every way to it and back takes a step of the scheduler. */
export class ScheduledRedis {
  /** The messages that it has accepted, in order. */
  readonly accepted: string[] = [];
  readonly clients: Set<ScheduledClient> = new Set();
  readonly pause: (label: string) => Promise<void>;

  constructor(pause: (label: string) => Promise<void>) {
    this.pause = pause;
  }

  client(): RedisClient {
    return new ScheduledClient(this);
  }

  /** Cuts all connections. Each client notices a step later. */
  async cut(): Promise<void> {
    const cut = [...this.clients];
    for (const client of cut) client.cut();
    await this.pause("the loss is noticed");
    for (const client of cut) client.notice();
  }
}

/** One connection. What the server sends arrives in order. */
class ScheduledClient implements RedisClient {
  readonly #server: ScheduledRedis;
  readonly #listeners = new Map<string, (text: string) => void>();
  readonly #onError: ((error: Error) => void)[] = [];
  #line: Promise<unknown> = Promise.resolve();
  #isCut = false;

  constructor(server: ScheduledRedis) {
    this.#server = server;
  }

  async connect(): Promise<void> {
    await this.#server.pause("connect");
    if (!this.#isCut) this.#server.clients.add(this);
  }

  /** Only PING is sent this way. */
  async sendCommand(): Promise<unknown> {
    return "PONG";
  }

  publish(channel: string, message: string): Promise<void> {
    return this.#call("publish", () => {
      this.#server.accepted.push(message);
      for (const client of this.#server.clients) client.deliver(channel, message);
    });
  }

  subscribe(channel: string, listener: (text: string) => void): Promise<void> {
    return this.#call("subscribe", () => void this.#listeners.set(channel, listener));
  }

  unsubscribe(channel: string): Promise<void> {
    return this.#call("unsubscribe", () => void this.#listeners.delete(channel));
  }

  on(_event: "error", listener: (error: Error) => void): void {
    this.#onError.push(listener);
  }

  async close(): Promise<void> {}

  destroy(): void {
    this.cut();
  }

  deliver(channel: string, message: string): void {
    const listener = this.#listeners.get(channel);
    if (listener !== undefined) void this.#receive("message", () => listener(message)).catch(() => {});
  }

  cut(): void {
    this.#isCut = true;
    this.#server.clients.delete(this);
  }

  notice(): void {
    for (const listener of this.#onError) listener(new Error("the connection was lost"));
  }

  async #call(name: string, effect: () => void): Promise<void> {
    await this.#server.pause(`${name} arrives`);
    if (this.#isCut) throw new Error("the connection was lost");
    effect();
    await this.#receive(`the reply to ${name}`, () => {});
  }

  #receive(label: string, read: () => void): Promise<void> {
    const received = this.#line.then(async () => {
      await this.#server.pause(label);
      if (this.#isCut) throw new Error("the connection was lost");
      read();
    });
    this.#line = received.catch(() => {});
    return received;
  }
}
