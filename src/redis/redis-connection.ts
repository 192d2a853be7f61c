import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../core/logger.ts";
import { outside } from "../core/outside.ts";
import { PorticoError } from "../core/portico-error.ts";
import { within } from "../core/within.ts";
import { redisHost } from "./check-redis-url.ts";
import { isReply, type RedisClient, redisClient } from "./redis-client.ts";

export interface RedisConnectionOptions {
  /** The role in messages, such as `durable`. */
  readonly role: string;
  readonly url: string;
  readonly timeoutMs: number;
  /** The effect of a lost connection, for the log. */
  readonly meanwhile: string;
  /** Called for every established connection, including the first. */
  readonly onReady?: () => void;
  /** Called when an established connection is lost. */
  readonly onLost?: () => void;
}

/** How long the application waits for Redis at startup. */
const START_MS = 5_000;
/** How often an idle connection is checked. Nothing else reports that a host has vanished. */
const HEARTBEAT_MS = 1_000;
/** The minimum time between two connection attempts. */
const LONGEST_DELAY_MS = 400;

/**
 * A connection to Redis that is opened by the first command and replaced when it breaks. Without a connection, commands
 * fail immediately: nothing is queued, and nothing is sent twice.
 */
export class RedisConnection {
  readonly #options: RedisConnectionOptions;
  readonly #closing = new AbortController();
  /** Settled when the first attempt has ended, successfully or not. Commands wait for it. */
  readonly #tried: PromiseWithResolvers<void> = Promise.withResolvers();
  /** Settled by the first established connection. */
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

  /** Starts connecting without waiting for it. */
  open(log?: Logger): void {
    this.#log = log ?? this.#log;
    if (this.#client === null && !this.#isConnecting) void outside(() => this.#connect());
  }

  /** Connects. Rejects if Redis cannot be reached within a few seconds. */
  async start(log: Logger): Promise<void> {
    this.open(log);
    try {
      await within(START_MS, this.#stood.promise);
    } catch {
      const { role, url } = this.#options;
      const sentence = `cannot start the ${role} role: no connection to Redis at ${redisHost(url)}`;
      throw new PorticoError("STORE_UNAVAILABLE", sentence, { status: 503, cause: this.#cause });
    }
  }

  /** Rejects while Redis does not respond. */
  async check(): Promise<void> {
    await this.send(["PING"]);
  }

  /** Sends one command. Rejects with code `STORE_UNAVAILABLE`, or `STORE_FULL` if Redis is out of memory. */
  send(command: readonly string[]): Promise<unknown> {
    return this.run((client) => client.sendCommand(command));
  }

  /** Runs any client call, with the errors of `send`. */
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

  /** Notes that data has arrived: in a busy process, a pending reply may be queued behind it. */
  noteLife(): void {
    this.#heardAt = performance.now();
  }

  /** Waits for pending replies and closes the connection permanently. */
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
      // Attempts are spread out, so that not all processes connect at the same moment.
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
      this.#log?.info({ seconds }, `redis: reconnected (${this.#options.role})`);
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

  /** Logs one line per outage, however many attempts fail. */
  #miss(cause: unknown): void {
    this.#cause = cause;
    if (this.#lostAt !== null || this.#closing.signal.aborted) return;
    this.#lostAt = performance.now();
    const { role, meanwhile } = this.#options;
    this.#log?.error({ err: cause }, `redis: connection lost (${role}); ${meanwhile}`);
  }

  #failure(cause: unknown): PorticoError {
    const { role } = this.#options;
    const options = { status: 503, headers: { "retry-after": "1" }, cause };
    if (isReply(cause) && cause.message.startsWith("OOM "))
      return new PorticoError("STORE_FULL", `Redis is out of memory (${role})`, options);
    const why = this.#closing.signal.aborted ? "is closed" : "does not respond";
    return new PorticoError("STORE_UNAVAILABLE", `Redis ${why} (${role})`, options);
  }
}

/** The server was the primary when we connected. A new connection to its host name may reach the current primary. */
function isOfReplica(reply: Error): boolean {
  return reply.message.startsWith("READONLY ");
}
