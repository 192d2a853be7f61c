import { setTimeout as sleep } from "node:timers/promises";
import { type ConnectionOptions, connect, type NatsConnection, type Subscription } from "@nats-io/transport-node";
import { isInstance, loggable } from "../core/describe-error.ts";
import type { Logger } from "../core/logger.ts";
import { outsideRequest } from "../core/outside-request.ts";
import { PorticoError } from "../core/portico-error.ts";
import { inBackground } from "../core/work/in-background.ts";
import { withTimeout } from "../core/work/with-timeout.ts";
import type { BusLink, BusLinkEvents } from "../stores/bus-link.ts";
import { ownSockets } from "../stores/own-sockets.ts";
import { reconnectDelay } from "../stores/reconnect-delay.ts";
import { startWithin } from "../stores/start-within.ts";

/** How often an idle connection is checked. Nothing else reports that a host has vanished. */
const HEARTBEAT_MS = 1_000;

/**
 * A connection to NATS that the first call opens and that is replaced when it breaks. Without a connection, calls fail
 * immediately. The client's own reconnection would queue what is published meanwhile, and subscribe again before subscribers
 * learn that they missed events.
 */
export class NatsLink implements BusLink {
  readonly server: string = "NATS";
  readonly #servers: ConnectionOptions;
  readonly #timeoutMs: number;
  readonly #events: BusLinkEvents;
  readonly #closing = new AbortController();
  readonly #subscriptions = new Map<string, Subscription>();
  /** Settled by the first established connection. */
  readonly #stood: PromiseWithResolvers<void> = Promise.withResolvers();
  #tried: Promise<void> | null = null;
  #connection: NatsConnection | null = null;
  #cause: unknown;
  #lostAt: number | null = null;
  #log: Logger | undefined;

  constructor(servers: ConnectionOptions, timeoutMs: number, events: BusLinkEvents) {
    this.#servers = servers;
    this.#timeoutMs = timeoutMs;
    this.#events = events;
  }

  isReady(): boolean {
    return this.#connection !== null;
  }

  async start(log: Logger): Promise<void> {
    this.#log = log;
    inBackground(this.#open());
    await startWithin(
      "bus",
      `NATS at ${String(this.#servers.servers)}`,
      () => this.#stood.promise,
      () => this.#cause,
    );
  }

  async check(): Promise<void> {
    await this.#run((connection) => connection.flush());
  }

  async publish(channel: string, text: string): Promise<void> {
    await this.#run((connection) => {
      const most = connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
      const bytes = Buffer.from(text);
      if (bytes.length > most) throw new RangeError(`an event on ${channel} has more than the ${most} bytes of NATS`);
      connection.publish(channel, bytes);
      return connection.flush();
    });
  }

  async subscribe(channel: string, listener: (text: string) => void): Promise<void> {
    await this.#run(async (connection) => {
      const rejected = Promise.withResolvers<never>();
      const subscription = connection.subscribe(channel, {
        callback: (error, message) => (error === null ? listener(message.string()) : rejected.reject(error)),
      });
      this.#subscriptions.set(channel, subscription);
      // The server answers in order, so a rejection arrives before the reply to the flush.
      await Promise.race([connection.flush(), rejected.promise]);
    });
  }

  async unsubscribe(channel: string): Promise<void> {
    this.#subscriptions.get(channel)?.unsubscribe();
    this.#subscriptions.delete(channel);
    await this.check();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const connection = this.#connection;
    this.#connection = null;
    if (connection === null) return;
    await withTimeout(this.#timeoutMs, connection.drain()).catch(() => {});
    await connection.close();
  }

  async #run<T>(work: (connection: NatsConnection) => Promise<T>): Promise<T> {
    if (this.#connection === null) await this.#open();
    const connection = this.#connection;
    if (connection === null) throw this.#failure();
    try {
      return await withTimeout(this.#timeoutMs, work(connection));
    } catch (error) {
      if (isInstance(error, RangeError)) throw error;
      this.#cause = error;
      // Closing it ends every other call as well, so the next connection starts from nothing.
      if (!isPermission(error)) this.#drop(connection);
      throw this.#failure();
    }
  }

  /** Starts connecting. Resolves when the first attempt has ended, successfully or not. */
  #open(): Promise<void> {
    if (this.#tried === null) {
      const tried = Promise.withResolvers<void>();
      this.#tried = tried.promise;
      inBackground(outsideRequest(() => this.#connect(tried.resolve)));
    }
    return this.#tried;
  }

  async #connect(onTried: () => void = () => {}): Promise<void> {
    const { signal } = this.#closing;
    for (let attempt = 0; !signal.aborted; attempt++) {
      const connection = await this.#attempt();
      if (connection !== null) {
        this.#take(connection);
        onTried();
        return;
      }
      onTried();
      await sleep(reconnectDelay(attempt), undefined, { signal, ref: false }).catch(() => {});
    }
    onTried();
  }

  async #attempt(): Promise<NatsConnection | null> {
    const timeouts = { timeout: this.#timeoutMs, pingInterval: HEARTBEAT_MS, maxPingOut: 2 };
    try {
      const connection = await ownSockets(this.#closing.signal, () =>
        connect({ ...this.#servers, ...timeouts, reconnect: false }),
      );
      if (!this.#closing.signal.aborted) return connection;
      await connection.close();
    } catch (cause) {
      this.#miss(cause);
    }
    return null;
  }

  #take(connection: NatsConnection): void {
    this.#connection = connection;
    this.#stood.resolve();
    inBackground(
      connection.closed().then((cause) => {
        if (isInstance(cause, Error)) this.#cause = cause;
        this.#drop(connection);
      }),
    );
    if (this.#lostAt !== null) {
      const seconds = Math.round((performance.now() - this.#lostAt) / 100) / 10;
      this.#log?.info({ seconds }, "nats: reconnected (bus)");
    }
    this.#lostAt = null;
    this.#events.onReady();
  }

  #drop(connection: NatsConnection): void {
    if (connection !== this.#connection) return;
    this.#connection = null;
    this.#subscriptions.clear();
    this.#miss(this.#cause);
    inBackground(connection.close());
    this.#events.onLost(() => true);
    inBackground(outsideRequest(() => this.#connect()));
  }

  /** Logs one line per outage, however many attempts fail. */
  #miss(cause: unknown): void {
    this.#cause = cause;
    if (this.#lostAt !== null || this.#closing.signal.aborted) return;
    this.#lostAt = performance.now();
    this.#log?.error({ err: loggable(cause) }, "nats: connection lost (bus); events are neither sent nor received");
  }

  #failure(): PorticoError {
    const why = this.#closing.signal.aborted ? "is closed" : "does not respond";
    const options = { status: 503, headers: { "retry-after": "1" }, cause: this.#cause };
    return new PorticoError("STORE_UNAVAILABLE", `NATS ${why} (bus)`, options);
  }
}

/** Whether the server rejected this subject, so that the connection is intact. */
function isPermission(error: unknown): boolean {
  return isInstance(error, Error) && error.name === "PermissionViolationError";
}
