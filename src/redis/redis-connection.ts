import { setTimeout as sleep } from "node:timers/promises";
import { loggable } from "../core/describe-error.ts";
import type { Logger } from "../core/logger.ts";
import { outsideRequest } from "../core/outside-request.ts";
import { PorticoError } from "../core/portico-error.ts";
import { inBackground } from "../core/work/in-background.ts";
import { withTimeout } from "../core/work/with-timeout.ts";
import { reconnectDelay } from "../stores/reconnect-delay.ts";
import { startWithin } from "../stores/start-within.ts";
import { isReply, type RedisClient, redisClient } from "./redis-client.ts";
import type { RedisLink, RedisLinkOptions } from "./redis-link.ts";

/** Where the server is that a connection leads to. */
export interface RedisLocation {
  /** The URL of the server at this moment. */
  readonly locate: () => Promise<string>;
  readonly close?: () => Promise<void>;
}

export interface RedisConnectionOptions extends RedisLinkOptions {
  /** The server in messages. */
  readonly host: string;
  /** Whether the server is a node of a cluster. */
  readonly isSharded?: boolean;
}

/** How often an idle connection is checked. Nothing else reports that a host has vanished. */
export const HEARTBEAT_MS = 1_000;

/**
 * A connection to Redis that is opened by the first command and replaced when it breaks. Without a connection, commands
 * fail immediately: nothing is queued, and nothing is sent twice.
 */
export class RedisConnection implements RedisLink {
  readonly #location: RedisLocation;
  readonly #options: RedisConnectionOptions;
  readonly #closing = new AbortController();
  /** Settled when the first attempt has ended, successfully or not. Commands wait for it. */
  readonly #tried: PromiseWithResolvers<void> = Promise.withResolvers();
  /** Settled by the first established connection. */
  readonly #stood: PromiseWithResolvers<void> = Promise.withResolvers();
  #client: RedisClient | null = null;
  #url = "";
  #isConnecting = false;
  #lostAt: number | null = null;
  #cause: unknown;
  #heartbeat: NodeJS.Timeout | undefined;
  #heardAt = Number.NEGATIVE_INFINITY;
  #log: Logger | null = null;

  constructor(location: RedisLocation, options: RedisConnectionOptions) {
    this.#location = location;
    this.#options = options;
  }

  isReady(): boolean {
    return this.#client !== null;
  }

  open(log?: Logger): void {
    this.#log = log ?? this.#log;
    if (this.#client === null && !this.#isConnecting) inBackground(outsideRequest(() => this.#connect()));
  }

  async start(log: Logger): Promise<void> {
    this.open(log);
    const { role, host } = this.#options;
    await startWithin(
      role,
      `Redis at ${host}`,
      () => this.#stood.promise,
      () => this.#cause,
    );
  }

  async check(): Promise<void> {
    await this.send("", ["PING"]);
  }

  send(key: string, command: readonly string[]): Promise<unknown> {
    return this.run(key, (client) => client.sendCommand(command));
  }

  async run<T>(_key: string, work: (client: RedisClient) => Promise<T>): Promise<T> {
    const client = this.#client ?? (await this.#first());
    try {
      const answer = await withTimeout(this.#options.timeoutMs, work(client), () => this.#heardAt);
      this.noteLife();
      return answer;
    } catch (cause) {
      if (!isReply(cause) || isOfReplica(cause)) this.#drop(client, cause);
      throw this.#failure(cause);
    }
  }

  noteLife(): void {
    this.#heardAt = performance.now();
  }

  async servers(): Promise<readonly RedisLink[]> {
    return [this];
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#heartbeat);
    const client = this.#client;
    this.#client = null;
    this.#tried.resolve();
    await this.#location.close?.();
    if (client === null) return;
    await withTimeout(this.#options.timeoutMs, client.close()).catch(() => {});
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
      await sleep(reconnectDelay(attempt), undefined, { signal, ref: false }).catch(() => {});
    }
  }

  async #attempt(): Promise<RedisClient | null> {
    let client: RedisClient | null = null;
    try {
      this.#url = await this.#location.locate();
      const opened = redisClient(this.#url, this.#options);
      client = opened;
      opened.on("error", (cause) => this.#drop(opened, cause));
      await withTimeout(this.#options.timeoutMs, opened.connect());
      if (!this.#closing.signal.aborted) return opened;
    } catch (cause) {
      this.#miss(cause);
    }
    client?.destroy();
    return null;
  }

  #take(client: RedisClient): void {
    this.#client = client;
    this.#heartbeat = setInterval(() => inBackground(this.#beat(client)), HEARTBEAT_MS).unref();
    this.#stood.resolve();
    if (this.#lostAt !== null) {
      const seconds = Math.round((performance.now() - this.#lostAt) / 100) / 10;
      this.#log?.info({ seconds }, `redis: reconnected (${this.#options.role})`);
    }
    this.#lostAt = null;
    this.#options.onReady?.();
    this.#options.onBeat?.(client);
    this.#tried.resolve();
  }

  /** A primary that was replaced while it was separated from the others still responds. */
  async #beat(client: RedisClient): Promise<void> {
    this.#options.onBeat?.(client);
    const [url] = await Promise.all([this.#location.locate().catch(() => this.#url), this.check().catch(() => {})]);
    if (url !== this.#url) this.#drop(client, new Error("the primary was replaced"));
  }

  #drop(client: RedisClient, cause: unknown): void {
    if (client !== this.#client) return;
    this.#client = null;
    clearInterval(this.#heartbeat);
    this.#miss(cause);
    client.destroy();
    this.#options.onLost?.(() => true);
    inBackground(outsideRequest(() => this.#connect()));
  }

  /** Logs one line per outage, however many attempts fail. */
  #miss(cause: unknown): void {
    this.#cause = cause;
    if (this.#lostAt !== null || this.#closing.signal.aborted) return;
    this.#lostAt = performance.now();
    const { role, meanwhile } = this.#options;
    this.#log?.error({ err: loggable(cause) }, `redis: connection lost (${role}); ${meanwhile}`);
  }

  #failure(cause: unknown): PorticoError {
    return storeFailure(this.#options.role, cause, this.#closing.signal.aborted);
  }
}

/** The error of a command that failed. */
export function storeFailure(role: string, cause: unknown, isClosed: boolean): PorticoError {
  const options = { status: 503, headers: { "retry-after": "1" }, cause };
  if (isReply(cause) && cause.message.startsWith("OOM "))
    return new PorticoError("STORE_FULL", `Redis is out of memory (${role})`, options);
  const why = isClosed ? "is closed" : "does not respond";
  return new PorticoError("STORE_UNAVAILABLE", `Redis ${why} (${role})`, options);
}

/** The server was the primary when we connected. A new connection to its host name may reach the current primary. */
function isOfReplica(reply: Error): boolean {
  return reply.message.startsWith("READONLY ");
}
