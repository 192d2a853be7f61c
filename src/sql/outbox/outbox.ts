import { loggable } from "../../core/describe-error.ts";
import type { Logger } from "../../core/logger.ts";
import { outsideRequest } from "../../core/outside-request.ts";
import type { Figure } from "../../core/parts/parts.ts";
import { failpoint } from "../../core/work/failpoint.ts";
import { inBackground } from "../../core/work/in-background.ts";
import {
  type ConsumerDeclaration,
  type EventPlace,
  type KeptEvents,
  keepsEvents,
  type NewEvent,
  type RunStatement,
} from "../../stores/outbox.ts";
import {
  durableTopic,
  encodeEvent,
  type PubSub,
  PubSubGap,
  type SubscribeOptions,
  type Topic,
  topic,
} from "../../stores/pub-sub.ts";
import type { Database } from "../database/database.ts";
import { poolOf } from "../database/open/pooled-database.ts";
import { asPortico } from "../guard/acting-handles.ts";
import { ConsumerRun } from "./consumer-run.ts";
import { Delivery } from "./delivery.ts";
import { EventTable, type KeptTopic, type Present } from "./event-table.ts";
import type { KeptSubscription } from "./kept-subscription.ts";
import { Leases, RELAY } from "./leases.ts";
import { Relay } from "./relay.ts";
import { SettledReader } from "./settled-reader.ts";

/** How often the lease is renewed. Without the bus, events arrive with this delay. */
const BEAT_MS = 400;
/** A process announces its commits at most this often. */
const RING_MS = 10;
const REPLACED = "the database was replaced or restored";
/** How long the start waits for transactions to end, so that no older events are delivered. */
const START_MS = 2_000;

/** The bus announces commits to the relay, and settled positions to all processes. The events themselves are in the table. */
const written = topic<{ outbox: string }>("portico.events.written");
const settled = topic<{ outbox: string; seq: number }>("portico.events.settled");

/**
 * Returns a bus that keeps the events of durable topics in a database, and passes all others to `bus`, which can be that of
 * `redisStores` or `NatsPubSub`. The bus of `sqlStores` keeps them already.
 *
 * `migrate` creates the tables. Events of durable topics are written by the transaction that publishes them, so they exist if and
 * only if it was committed. In each database, one process at a time determines how far events are settled.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { redisStores } from "portico/redis";
 * import { openDatabase, outbox } from "portico/sql";
 *
 * const database = openDatabase("postgres://localhost/shop");
 * const stores = redisStores("redis://127.0.0.1:6379");
 * const app = new PorticoApp({ stores: { ...stores, bus: outbox(database, stores.bus) } });
 * ```
 */
export function outbox(database: Database, bus: PubSub): PubSub {
  return new OutboxPubSub(asPortico(database.withoutPlugins()), bus);
}

class OutboxPubSub implements PubSub {
  readonly #bus: PubSub;
  readonly #database: Database;
  readonly #table: EventTable;
  readonly #leases: Leases;
  readonly #delivery: Delivery;
  readonly #relay: Relay;
  readonly #consumers = new Map<string, ConsumerRun>();
  readonly #closing = new AbortController();
  #log: Logger | null = null;
  #active: Promise<void> | null = null;
  /** The history of the database that events are read from. */
  #epoch = "";
  /** The question for the present that is under way, which all who ask in the meantime share. */
  #asking: Promise<Present> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isBeating = false;
  #hasFailed = false;
  #ringing: NodeJS.Timeout | null = null;
  #mustRing = false;
  #bytes = 0;
  #measuredAt = Number.NEGATIVE_INFINITY;

  constructor(database: Database, bus: PubSub) {
    this.#bus = bus;
    this.#database = database;
    this.#table = new EventTable(database);
    this.#leases = new Leases(database);
    this.#delivery = new Delivery(this.#table);
    this.#relay = new Relay(
      database,
      (seq) => this.#settled(seq),
      () => this.#log,
    );
    poolOf(database)?.closing.addEventListener("abort", () => this.#end());
    keepsEvents(this, {
      write: (run, events) => this.#write(run, events),
      ring: () => this.#ring(),
      follow: (to, after, signal) => this.#followFrom(to, after, signal),
      consume: (consumer, log) => this.#consume(consumer, log),
      stop: () => this.#stop(),
      figures: () => this.#figures(),
    });
  }

  get isConnected(): boolean {
    return this.#bus.isConnected ?? true;
  }
  get topicCount(): number {
    return (this.#bus.topicCount ?? 0) + this.#delivery.topicCount;
  }
  get waitingCount(): number {
    return (this.#bus.waitingCount ?? 0) + this.#delivery.waitingCount;
  }

  /** Without durable topics, the tables are not used. */
  async start(log: Logger): Promise<void> {
    this.#log = log;
    await this.#bus.start?.(log);
    if (durableTopic() !== null) await this.#activate();
  }

  /** Events come from the database, and the bus only says that there are some. */
  async check(): Promise<void> {
    await Promise.all([this.#database.ping(), this.#bus.check?.()]);
  }

  async close(): Promise<void> {
    await this.#stop();
    this.#end();
    await this.#bus.close?.();
  }

  async publish<T>(to: Topic<T>, value: NoInfer<T>): Promise<void> {
    if (to.keep === undefined) return this.#bus.publish(to, value);
    const event = { topic: to.name, keep: to.keep, text: encodeEvent(to.name, value) };
    await this.#activate();
    // The query runs outside the request, because a transaction that was committed is not undone if the client disconnects.
    await outsideRequest(() => this.#table.writeAlone([event]));
    this.#ring();
  }

  subscribe<T>(to: Topic<T>, options: SubscribeOptions = {}): AsyncIterable<T, void, void> {
    if (to.keep === undefined) return this.#bus.subscribe(to, options);
    const kept: KeptTopic = { name: to.name, keep: to.keep };
    return { [Symbol.asyncIterator]: () => valuesOf<T>(this.#follow(kept, options.signal)) };
  }

  async settled(): Promise<void> {
    await this.#active?.catch(() => {});
    await this.#bus.settled();
  }

  #follow(kept: KeptTopic, signal: AbortSignal | undefined): Promise<KeptSubscription> | KeptSubscription {
    if (this.#timer !== undefined) return this.#delivery.follow(kept, null, signal);
    const following = this.#activate().then(() => this.#delivery.follow(kept, null, signal));
    // The iterator reports the error when it is read.
    following.catch(() => {});
    return following;
  }

  async #followFrom<T>(to: Topic<T>, after: EventPlace | null, signal: AbortSignal): Promise<KeptEvents<T>> {
    await this.#activate();
    const kept: KeptTopic = { name: to.name, keep: to.keep ?? "1h" };
    if (after !== null) await this.#checkPlace(kept, after);
    const epoch = this.#epoch;
    const following = this.#delivery.follow(kept, after?.seq ?? null, signal);
    const place = {
      epoch,
      get seq() {
        return following.seq;
      },
      get idleSeq() {
        return following.idleSeq;
      },
    };
    return Object.assign(place, valuesOf<T>(following));
  }

  /** Rejects with `PubSubGap` if events after the place may have been removed, or the place belongs to another history. */
  async #checkPlace({ name, keep }: KeptTopic, { epoch, seq }: EventPlace): Promise<void> {
    let present = await this.#present();
    // A question that began before another process returned this place may not include it.
    if (epoch === present.epoch && seq > present.seq) present = await this.#present();
    await this.#enter(present.epoch);
    if (epoch !== present.epoch || seq > present.seq) throw new PubSubGap(name, REPLACED);
    if (seq < (present.floors[keep] ?? 0)) throw new PubSubGap(name, `the place is older than ${keep}`);
  }

  #present(): Promise<Present> {
    this.#asking ??= this.#table.present().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  /** Begins anew if the database has another history, because it was restored, or because a replica was promoted. */
  async #enter(epoch: string): Promise<void> {
    if (epoch === this.#epoch) return;
    const settled = await this.#leases.positionOf(RELAY);
    const isFirst = this.#epoch === "";
    if (epoch === this.#epoch) return;
    this.#epoch = epoch;
    if (isFirst) return;
    this.#relay.restart();
    this.#delivery.restart(settled, REPLACED);
  }

  /** Begins to use the tables, with the first durable topic. */
  #activate(): Promise<void> {
    this.#active ??= outsideRequest(() => this.#begin()).catch((error: unknown) => {
      this.#active = null;
      throw error;
    });
    return this.#active;
  }

  async #begin(): Promise<void> {
    const id = await this.#table.id();
    await this.#leases.declare(RELAY, 0);
    // Subscriptions begin here: the stored position is older, and is used only if transactions stay open.
    const present = await new SettledReader(this.#database).present(START_MS);
    await this.#enter((await this.#table.present()).epoch);
    this.#delivery.settledUpTo(Math.max(present, await this.#leases.positionOf(RELAY)));
    inBackground(this.#follows(id, settled, ({ seq }) => this.#advance(seq)));
    inBackground(this.#follows(id, written, () => this.#relay.wake()));
    await this.#bus.settled();
    await this.#beat();
    if (!this.#closing.signal.aborted) this.#timer = setInterval(() => inBackground(this.#beat()), BEAT_MS).unref();
  }

  /** Renews the leases. Without the bus, it is also how positions arrive. */
  async #beat(): Promise<void> {
    if (this.#isBeating || this.#closing.signal.aborted) return;
    this.#isBeating = true;
    try {
      await this.#enter((await this.#present()).epoch);
      const names = [RELAY, ...this.#consumers.keys()];
      const held = await this.#leases.renew(names, this.#relay.settled);
      this.#relay.lead(held.has(RELAY));
      this.#delivery.settledUpTo(held.get(RELAY) ?? (await this.#leases.positionOf(RELAY)));
      for (const [name, consumer] of this.#consumers) consumer.lead(held.get(name) ?? null, this.#delivery.settled);
      if (this.#hasFailed) this.#log?.info({}, "the outbox responds again");
      this.#hasFailed = false;
    } catch (err) {
      this.#relay.lead(false);
      for (const consumer of this.#consumers.values()) consumer.lead(null, 0);
      if (!this.#hasFailed && !this.#closing.signal.aborted)
        this.#log?.warn({ err: loggable(err) }, "the outbox does not respond: events wait in the table");
      this.#hasFailed = true;
    } finally {
      this.#isBeating = false;
    }
  }

  /** Follows the announcements of this outbox, because several databases may share the bus. */
  async #follows<E extends { outbox: string }>(id: string, from: Topic<E>, receive: (event: E) => void): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        for await (const event of this.#bus.subscribe(from, { signal })) if (event.outbox === id) receive(event);
      } catch {
        // The lease renewals find what was missed.
      }
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, BEAT_MS).unref());
    }
  }

  /** The relay of this process has settled more events. */
  #settled(seq: number): void {
    this.#advance(seq);
    inBackground(this.#send(settled, { seq }));
  }

  #advance(seq: number): void {
    this.#delivery.settledUpTo(seq);
    for (const consumer of this.#consumers.values()) consumer.settledUpTo(seq);
  }

  async #write(run: RunStatement, events: readonly NewEvent[]): Promise<void> {
    failpoint("before-write");
    await this.#table.write(run, events);
    failpoint("before-commit");
  }

  /** Announces commits: at once, and then at most once every few milliseconds. */
  #ring(): void {
    failpoint("after-commit");
    this.#mustRing = true;
    if (this.#ringing !== null) return;
    outsideRequest(() => {
      inBackground(
        this.#activate().then(
          () => this.#announce(),
          () => {},
        ),
      );
      this.#ringing = setTimeout(() => {
        this.#ringing = null;
        if (this.#mustRing) this.#ring();
      }, RING_MS).unref();
    });
  }

  async #announce(): Promise<void> {
    if (!this.#mustRing) return;
    this.#mustRing = false;
    if (this.#relay.isLeading) this.#relay.wake();
    else await this.#send(written, {});
    failpoint("after-ring");
  }

  /** Without the bus, the lease renewals do the same, later. */
  async #send<E extends { outbox: string }>(to: Topic<E>, event: Omit<E, "outbox">): Promise<void> {
    const outbox = await this.#table.id();
    await this.#bus.publish(to, { ...event, outbox } as E).catch(() => {});
  }

  async #consume(consumer: ConsumerDeclaration, log: Logger): Promise<void> {
    await this.#activate();
    const run = new ConsumerRun(consumer, { database: this.#database, table: this.#table, leases: this.#leases, log });
    await this.#leases.declare(run.lease, this.#delivery.settled);
    this.#consumers.set(run.lease, run);
    await this.#beat();
  }

  async #stop(): Promise<void> {
    const names = [RELAY, ...this.#consumers.keys()];
    await Promise.all([...this.#consumers.values()].map((consumer) => consumer.stop()));
    this.#consumers.clear();
    this.#relay.lead(false);
    clearInterval(this.#timer);
    // Another process would take over after the time of the lease anyway.
    if (this.#active !== null && !this.#closing.signal.aborted) await this.#leases.release(names).catch(() => {});
  }

  #end(): void {
    this.#closing.abort();
    clearInterval(this.#timer);
    this.#relay.lead(false);
    this.#delivery.close();
  }

  *#figures(): Iterable<Figure> {
    if (this.#active === null) return;
    if (performance.now() - this.#measuredAt > 30_000) {
      this.#measuredAt = performance.now();
      inBackground(
        this.#table.bytes().then(
          (bytes) => {
            this.#bytes = bytes;
          },
          () => {},
        ),
      );
    }
    yield { series: "portico_outbox_lag_seconds", labels: [], value: this.#relay.lagSeconds };
    yield { series: "portico_outbox_oldest_write_seconds", labels: [], value: this.#relay.oldestWriteSeconds };
    yield { series: "portico_outbox_bytes", labels: [], value: this.#bytes };
    for (const consumer of this.#consumers.values()) yield* consumer.figures();
  }
}

/** The values of a subscription, each as a separate copy. */
function valuesOf<T>(
  following: Promise<KeptSubscription> | KeptSubscription,
): Required<Pick<AsyncIterator<T, void, void>, "next" | "return">> {
  return {
    async next() {
      const result = await (await following).next();
      return result.done === true ? result : { done: false, value: JSON.parse(result.value.text) as T };
    },
    async return() {
      await (await following).return();
      return { done: true, value: undefined };
    },
  };
}
