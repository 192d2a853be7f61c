import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../core/logger.ts";
import { outside } from "../core/outside.ts";
import { PorticoError } from "../core/portico-error.ts";
import { within } from "../core/within.ts";
import { redisHost } from "./check-redis-url.ts";
import { isReply, type RedisClient, redisClient } from "./redis-client.ts";

export interface RedisConnectionOptions {
  /** What it is for, in a sentence: `durable`. */
  readonly role: string;
  readonly url: string;
  readonly timeoutMs: number;
  /** What goes on without a connection, for the log. */
  readonly meanwhile: string;
  /** Called with every connection that stands, the first one too. */
  readonly onReady?: () => void;
  /** Called when a connection that stood is gone. */
  readonly onLost?: () => void;
}

/** How long the start of an application waits for Redis. */
const START_MS = 5_000;
/** An idle connection is asked this often whether it still stands: nothing else would tell that a host has vanished. */
const HEARTBEAT_MS = 1_000;
/** A connection is tried again this often at the most. */
const LONGEST_DELAY_MS = 400;

/**
 * One connection to Redis, made with the first command, replaced whenever it breaks. While there is none, commands fail at
 * once: nothing is held back for later, and nothing is sent twice.
 */
export class RedisConnection {
  readonly #options: RedisConnectionOptions;
  readonly #closing = new AbortController();
  /** Settled when the first attempt is over, whatever came of it: before that, commands wait. */
  readonly #tried: PromiseWithResolvers<void> = Promise.withResolvers();
  /** Settled with the first connection that stands. */
  readonly #stood: PromiseWithResolvers<void> = Promise.withResolvers();
  #client: RedisClient | null = null;
  #isConnecting = false;
  #lostAt: number | null = null;
  #cause: unknown;
  #heartbeat: NodeJS.Timeout | undefined;
  #heardAt = Number.NEGATIVE_INFINITY;
  #log: Logger | null = null;

  constructor(options: RedisConnectionOptions) {
    this.#options = options;
  }

  get isReady(): boolean {
    return this.#client !== null;
  }

  /** Begins to connect, without waiting for it. */
  open(log?: Logger): void {
    this.#log = log ?? this.#log;
    if (this.#client === null && !this.#isConnecting) void outside(() => this.#connect());
  }

  /** Connects. Rejects when Redis is not there within a few seconds. */
  async start(log: Logger): Promise<void> {
    this.open(log);
    try {
      await within(START_MS, this.#stood.promise);
    } catch {
      const { role, url } = this.#options;
      const sentence = `the ${role} role cannot be started: no connection to Redis at ${redisHost(url)}`;
      throw new PorticoError("STORE_UNAVAILABLE", sentence, { status: 503, cause: this.#cause });
    }
  }

  /** Rejects while Redis does not answer. */
  async check(): Promise<void> {
    await this.send(["PING"]);
  }

  /** Sends one command. Rejects with code `STORE_UNAVAILABLE`, or `STORE_FULL` when Redis has no memory left. */
  send(command: readonly string[]): Promise<unknown> {
    return this.run((client) => client.sendCommand(command));
  }

  /** The same with whatever the client can do. */
  async run<T>(work: (client: RedisClient) => Promise<T>): Promise<T> {
    const client = this.#client ?? (await this.#first());
    try {
      const answer = await within(this.#options.timeoutMs, work(client), () => this.#heardAt);
      this.noteLife();
      return answer;
    } catch (cause) {
      if (!isReply(cause) || isOfReplica(cause)) this.#drop(client, cause);
      throw this.#failure(cause);
    }
  }

  /** Something has arrived: an answer that is still due may stand behind it, in a process that does not keep up. */
  noteLife(): void {
    this.#heardAt = performance.now();
  }

  /** Waits for the answers that are due, and ends for good. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#heartbeat);
    const client = this.#client;
    this.#client = null;
    this.#tried.resolve();
    if (client === null) return;
    await within(this.#options.timeoutMs, client.close()).catch(() => {});
    client.destroy();
  }

  async #first(): Promise<RedisClient> {
    this.open();
    await this.#tried.promise;
    if (this.#client === null) throw this.#failure(this.#cause);
    return this.#client;
  }

  async #connect(): Promise<void> {
    const { signal } = this.#closing;
    this.#isConnecting = true;
    for (let attempt = 0; !signal.aborted; attempt++) {
      const client = await this.#attempt();
      if (client !== null) {
        this.#isConnecting = false;
        this.#take(client);
        return;
      }
      this.#tried.resolve();
      const delayMs = Math.min(LONGEST_DELAY_MS, 25 * 2 ** attempt);
      // Not all processes at the same moment.
      await sleep(delayMs * (0.5 + Math.random() / 2), undefined, { signal, ref: false }).catch(() => {});
    }
  }

  async #attempt(): Promise<RedisClient | null> {
    const { url, timeoutMs } = this.#options;
    const client = redisClient(url, timeoutMs);
    client.on("error", (cause) => this.#drop(client, cause));
    try {
      await within(timeoutMs, client.connect());
      if (!this.#closing.signal.aborted) return client;
    } catch (cause) {
      this.#miss(cause);
    }
    client.destroy();
    return null;
  }

  #take(client: RedisClient): void {
    this.#client = client;
    this.#heartbeat = setInterval(() => void this.check().catch(() => {}), HEARTBEAT_MS).unref();
    this.#stood.resolve();
    if (this.#lostAt !== null) {
      const seconds = Math.round((performance.now() - this.#lostAt) / 100) / 10;
      this.#log?.info({ seconds }, `redis: the ${this.#options.role} role has its connection back`);
    }
    this.#lostAt = null;
    this.#options.onReady?.();
    this.#tried.resolve();
  }

  #drop(client: RedisClient, cause: unknown): void {
    if (client !== this.#client) return;
    this.#client = null;
    clearInterval(this.#heartbeat);
    this.#miss(cause);
    client.destroy();
    this.#options.onLost?.();
    void outside(() => this.#connect());
  }

  /** One line for an outage, however many attempts there are in it. */
  #miss(cause: unknown): void {
    this.#cause = cause;
    if (this.#lostAt !== null || this.#closing.signal.aborted) return;
    this.#lostAt = performance.now();
    const { role, meanwhile } = this.#options;
    this.#log?.error({ err: cause }, `redis: the ${role} role has no connection, ${meanwhile}`);
  }

  #failure(cause: unknown): PorticoError {
    const { role } = this.#options;
    const options = { status: 503, headers: { "retry-after": "1" }, cause };
    if (isReply(cause) && cause.message.startsWith("OOM "))
      return new PorticoError("STORE_FULL", `the Redis of the ${role} role has no memory left`, options);
    const why = this.#closing.signal.aborted ? "is closed" : "does not answer";
    return new PorticoError("STORE_UNAVAILABLE", `the Redis of the ${role} role ${why}`, options);
  }
}

/** It was the main server when we connected: by its name we may reach the one that is now. */
function isOfReplica(reply: Error): boolean {
  return reply.message.startsWith("READONLY ");
}
