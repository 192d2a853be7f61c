import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { outside } from "../../core/outside.ts";
import { within } from "../../core/within.ts";
import { encodeEvent, isEvent, type PubSub, type SubscribeOptions, type Topic } from "../../stores/pub-sub.ts";
import { Subscription } from "../../stores/subscription.ts";
import { type Database, type Listen, type Listener, PooledDatabase } from "../database/database.ts";

const MAX_QUEUED = 1_000;
/** Units of UTF-16, three bytes each at most: PostgreSQL takes less than 8,000 bytes at once. */
const PART_LENGTH = 2_500;
/** Whoever subscribes again after a gap must not do so in a tight loop while the server is away. */
const PAUSE_MS = 500;
/** What this process says comes back to it within milliseconds: a connection that takes longer is dead, and nobody was told. */
const PATIENCE_MS = 5_000;

// One for each schema: applications that share a database do not hear each other.
const CHANNEL = sql<string>`'portico_' || md5(current_schema())`;

/**
 * A bus over `LISTEN` and `NOTIFY`: one connection beside the pool listens for all topics, from the first subscription on.
 *
 * When that connection is lost every subscription ends with `PubSubGap`; the next one connects again.
 */
export class PostgresPubSub implements PubSub {
  readonly #database: PooledDatabase<any>;
  readonly #connect: Listen;
  readonly #topics = new Map<string, Set<Subscription<unknown>>>();
  #listening: Promise<void> | null = null;
  #listener: Listener | null = null;
  #received = "";
  #isClosed = false;
  /** By id of the event: those who wait until their own has come back. */
  readonly #unheard = new Map<string, () => void>();

  constructor(database: Database) {
    if (!(database instanceof PooledDatabase) || database.listen === null)
      throw new ConfigurationError("sqlStores.database", "must be what openDatabase gave, not a transaction");
    this.#database = database;
    this.#connect = database.listen;
  }

  async publish<T>(topic: Topic<T>, value: NoInfer<T>): Promise<void> {
    const text = encodeEvent(topic.name, value);
    // Whoever has subscribed before hears it, also when the connection is not there yet.
    await this.#listening;
    const id = randomUUID();
    const heard = this.#hears(id);
    const parts = partsOf(id, `${JSON.stringify(topic.name)}\n${text}`);
    try {
      const notify = sql`select pg_notify(${CHANNEL}, part) from unnest(${parts}::text[]) as part`;
      // Outside: what is committed is published, also when the client of the request has left.
      await outside(() => notify.execute(this.#database));
    } catch (error) {
      this.#unheard.delete(id);
      throw error;
    }
    // Whoever subscribes here after this call does not get what came before.
    await this.#inTime(heard);
  }

  async settled(): Promise<void> {
    await this.#listening;
  }

  /** Ends each subscription without an error, and those that are made later at once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const subscription of this.#subscriptions()) void subscription.return();
    await this.#listening;
    await this.#listener?.close();
  }

  subscribe<T>(topic: Topic<T>, options: SubscribeOptions = {}): AsyncIterable<T, void, void> {
    return { [Symbol.asyncIterator]: () => this.#open<T>(topic.name, options.signal) };
  }

  #open<T>(topic: string, signal: AbortSignal | undefined): Subscription<T> {
    const subscription = new Subscription<T>({
      topic,
      maxQueued: MAX_QUEUED,
      signal,
      onClose: () => this.#remove(topic, subscription),
    });
    if (this.#isClosed) void subscription.return();
    if (!subscription.isOpen) return subscription;
    const subscriptions = this.#topics.get(topic) ?? new Set();
    this.#topics.set(topic, subscriptions.add(subscription));
    this.#listening ??= outside(() => this.#listen());
    return subscription;
  }

  #remove(topic: string, subscription: Subscription<unknown>): void {
    const subscriptions = this.#topics.get(topic);
    if (subscriptions?.delete(subscription) === true && subscriptions.size === 0) this.#topics.delete(topic);
  }

  /** All of them, in a list that does not change while they are ended. */
  #subscriptions(): readonly Subscription<unknown>[] {
    return [...this.#topics.values()].flatMap((subscriptions) => [...subscriptions]);
  }

  /** Resolves when the event has come back to this process, or never will. */
  #hears(id: string): Promise<void> | null {
    if (this.#listener === null) return null;
    return new Promise((resolve) => this.#unheard.set(id, resolve));
  }

  async #inTime(heard: Promise<void> | null): Promise<void> {
    const listener = this.#listener;
    if (heard === null || listener === null) return;
    await within(PATIENCE_MS, heard).catch((cause: unknown) => {
      listener.cut();
      if (this.#listener === listener) this.#lose(new Error("a published event did not come back", { cause }));
    });
  }

  /** Never rejects: those who listen are told by a gap. */
  async #listen(): Promise<void> {
    try {
      const { rows } = await sql<{ channel: string }>`select ${CHANNEL} as channel`.execute(this.#database);
      const listener = await this.#connect(String(rows[0]?.channel), (part) => this.#receive(part));
      this.#listener = listener;
      const { closing } = this.#database;
      const close = (): void => void this.close();
      closing.addEventListener("abort", close);
      void listener.ended.then((cause) => {
        closing.removeEventListener("abort", close);
        if (this.#listener === listener) this.#lose(cause);
      });
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

  /** The parts of an event come one after another: they are of one transaction. */
  #receive(part: string): void {
    const [, id = "", number, place, text = ""] = /^([\w-]+) (\d+) (\w+) (.*)$/s.exec(part) ?? [];
    this.#received = number === "0" ? text : this.#received + text;
    if (place !== "last") return;
    const [name = "", ...lines] = this.#received.split("\n");
    this.#received = "";
    const event = lines.join("\n");
    // Everybody who may connect may say something here.
    if (!isEvent(name) || !isEvent(event)) return;
    for (const subscription of this.#topics.get(JSON.parse(name) as string) ?? []) subscription.deliver(event);
    this.#unheard.get(id)?.();
    this.#unheard.delete(id);
  }
}

/** With a number on each: PostgreSQL drops what a transaction says twice. */
function partsOf(id: string, message: string): readonly string[] {
  const parts: string[] = [];
  for (let start = 0; start < message.length; ) {
    let end = Math.min(start + PART_LENGTH, message.length);
    // Both halves of a character stay together.
    if (end < message.length && (message.charCodeAt(end - 1) & 0xfc00) === 0xd800) end++;
    const place = end < message.length ? "more" : "last";
    parts.push(`${id} ${parts.length} ${place} ${message.slice(start, end)}`);
    start = end;
  }
  return parts;
}
