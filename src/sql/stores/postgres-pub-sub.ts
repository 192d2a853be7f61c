import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { outsideRequest } from "../../core/outside-request.ts";
import { inBackground } from "../../core/work/in-background.ts";
import { withTimeout } from "../../core/work/with-timeout.ts";
import {
  encodeEvent,
  isEvent,
  type PubSub,
  type SubscribeOptions,
  type Topic,
  transientName,
} from "../../stores/pub-sub.ts";
import { queuedIn, Subscription } from "../../stores/subscription.ts";
import type { Database, Listen, Listener } from "../database/database.ts";
import { poolOf } from "../database/open/pooled-database.ts";

const MAX_QUEUED = 1_000;
/** UTF-16 code units, of at most three bytes each. PostgreSQL accepts payloads of less than 8,000 bytes. */
const PART_LENGTH = 2_500;
/**
 * The pause before subscribers are notified of a failed connection, so that they do not resubscribe in a tight loop.
 */
const PAUSE_MS = 500;
/**
 * An event comes back to this process within milliseconds. If it takes longer, the connection is dead without having
 * been closed.
 */
const TIMEOUT_MS = 5_000;

// One channel per schema, so that applications that share a database do not receive each other's events.
const CHANNEL = sql<string>`'portico_' || md5(current_schema())`;

/**
 * A bus over `LISTEN` and `NOTIFY`. One connection outside the pool listens for all topics, from the first subscription
 * on.
 *
 * If that connection is lost, every subscription ends with `PubSubGap`. The next subscription reconnects.
 */
export class PostgresPubSub implements PubSub {
  readonly #database: Database;
  /** Aborted when the database is closed. */
  readonly #closing: AbortSignal;
  readonly #connect: Listen;
  readonly #topics = new Map<string, Set<Subscription<unknown>>>();
  #listening: Promise<void> | null = null;
  #listener: Listener | null = null;
  #received = "";
  #isClosed = false;
  /** Callbacks of `publish` calls that wait for their own event, by event id. */
  readonly #unheard = new Map<string, () => void>();

  constructor(database: Database) {
    const pool = poolOf(database);
    if (pool === undefined)
      throw new ConfigurationError("sqlStores.database", "must be the result of openDatabase, not a transaction");
    if (pool.listen === null)
      throw new ConfigurationError(
        "sqlStores.database",
        "cannot receive events on a Kysely instance: pass directUrl to openDatabase, or open it from a URL or a pool of pg",
      );
    this.#database = database;
    this.#closing = pool.closing;
    this.#connect = pool.listen;
  }

  get isConnected(): boolean {
    return this.#listener !== null;
  }

  get topicCount(): number {
    return this.#topics.size;
  }

  get waitingCount(): number {
    return queuedIn(this.#subscriptions()) + this.#unheard.size;
  }

  async publish<T>(topic: Topic<T>, value: NoInfer<T>): Promise<void> {
    const name = transientName(topic);
    const text = encodeEvent(name, value);
    // Earlier subscribers receive the event even if the connection is not established yet.
    await this.#listening;
    const id = randomUUID();
    const heard = this.#hears(id);
    const parts = partsOf(id, `${JSON.stringify(name)}\n${text}`);
    try {
      const notify = sql`select pg_notify(${CHANNEL}, part) from unnest(${parts}::text[]) as part`;
      // The query runs outside the request, because a committed event is published even if the client has disconnected.
      await outsideRequest(() => notify.execute(this.#database));
    } catch (error) {
      this.#unheard.delete(id);
      throw error;
    }
    // A later subscriber in this process must not receive this event.
    await this.#inTime(heard);
  }

  async settled(): Promise<void> {
    await this.#listening;
  }

  /** Ends each subscription without an error. Later subscriptions end immediately. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const subscription of this.#subscriptions()) inBackground(subscription.return());
    await this.#listening;
    await this.#listener?.close();
  }

  subscribe<T>(topic: Topic<T>, options: SubscribeOptions = {}): AsyncIterable<T, void, void> {
    const name = transientName(topic);
    return { [Symbol.asyncIterator]: () => this.#open<T>(name, options.signal) };
  }

  #open<T>(topic: string, signal: AbortSignal | undefined): Subscription<T> {
    const subscription = new Subscription<T>({
      topic,
      maxQueued: MAX_QUEUED,
      signal,
      onClose: () => this.#remove(topic, subscription),
    });
    if (this.#isClosed) inBackground(subscription.return());
    if (!subscription.isOpen) return subscription;
    const subscriptions = this.#topics.get(topic) ?? new Set();
    this.#topics.set(topic, subscriptions.add(subscription));
    this.#listening ??= outsideRequest(() => this.#listen());
    return subscription;
  }

  #remove(topic: string, subscription: Subscription<unknown>): void {
    const subscriptions = this.#topics.get(topic);
    if (subscriptions?.delete(subscription) === true && subscriptions.size === 0) this.#topics.delete(topic);
  }

  /** Returns a copy of all subscriptions, because the sets change while they are ended. */
  #subscriptions(): readonly Subscription<unknown>[] {
    return [...this.#topics.values()].flatMap((subscriptions) => [...subscriptions]);
  }

  /** Resolves when the event has come back to this process, or when the connection is lost. */
  #hears(id: string): Promise<void> | null {
    if (this.#listener === null) return null;
    return new Promise((resolve) => this.#unheard.set(id, resolve));
  }

  async #inTime(heard: Promise<void> | null): Promise<void> {
    const listener = this.#listener;
    if (heard === null || listener === null) return;
    await withTimeout(TIMEOUT_MS, heard).catch((cause: unknown) => {
      listener.cut();
      if (this.#listener === listener) this.#lose(new Error("a published event was not received back", { cause }));
    });
  }

  /** Never rejects: subscribers are notified by a gap. */
  async #listen(): Promise<void> {
    try {
      const { rows } = await sql<{ channel: string }>`select ${CHANNEL} as channel`.execute(this.#database);
      const listener = await this.#connect(String(rows[0]?.channel), (part) => this.#receive(part));
      this.#listener = listener;
      const closing = this.#closing;
      const close = (): void => inBackground(this.close());
      closing.addEventListener("abort", close);
      inBackground(
        listener.ended.then((cause) => {
          closing.removeEventListener("abort", close);
          if (this.#listener === listener) this.#lose(cause);
        }),
      );
      if (closing.aborted) close();
    } catch (cause) {
      await sleep(PAUSE_MS, undefined, { ref: false });
      this.#lose(cause);
    }
  }

  #lose(cause: unknown): void {
    this.#listening = null;
    this.#listener = null;
    this.#received = "";
    for (const resolve of this.#unheard.values()) resolve();
    this.#unheard.clear();
    for (const subscription of this.#subscriptions())
      subscription.lose("the connection to PostgreSQL was lost", { cause });
  }

  /** Collects the parts of an event, which arrive in order because they belong to one transaction. */
  #receive(part: string): void {
    const [, id = "", number, place, text = ""] = /^([\w-]+) (\d+) (\w+) (.*)$/s.exec(part) ?? [];
    this.#received = number === "0" ? text : this.#received + text;
    if (place !== "last") return;
    const [name = "", ...lines] = this.#received.split("\n");
    this.#received = "";
    const event = lines.join("\n");
    // Any client of the database can send notifications, so the content is checked.
    if (!isEvent(name) || !isEvent(event)) return;
    for (const subscription of this.#topics.get(JSON.parse(name) as string) ?? []) subscription.deliver(event);
    this.#unheard.get(id)?.();
    this.#unheard.delete(id);
  }
}

/** Numbers the parts, because PostgreSQL drops duplicates within a transaction. */
function partsOf(id: string, message: string): readonly string[] {
  const parts: string[] = [];
  for (let start = 0; start < message.length; ) {
    let end = Math.min(start + PART_LENGTH, message.length);
    // Surrogate pairs stay together.
    if (end < message.length && (message.charCodeAt(end - 1) & 0xfc00) === 0xd800) end++;
    const place = end < message.length ? "more" : "last";
    parts.push(`${id} ${parts.length} ${place} ${message.slice(start, end)}`);
    start = end;
  }
  return parts;
}
