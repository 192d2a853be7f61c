import { describeError, loggable } from "../../core/describe-error.ts";
import type { Logger } from "../../core/logger.ts";
import { outsideRequest } from "../../core/outside-request.ts";
import type { Figure } from "../../core/parts/parts.ts";
import { failpoint } from "../../core/work/failpoint.ts";
import { inBackground } from "../../core/work/in-background.ts";
import type { ConsumerDeclaration } from "../../stores/outbox.ts";
import type { Database, Transaction } from "../database/database.ts";
import { asPortico } from "../guard/acting-handles.ts";
import type { DeclaredConsumer } from "./consume.ts";
import type { EventTable, KeptTopic, StoredEvent } from "./event-table.ts";
import { type FailedEvent, FailedEvents } from "./failed-events.ts";
import type { Leases } from "./leases.ts";

export interface ConsumerParts {
  readonly database: Database;
  readonly table: EventTable;
  readonly leases: Leases;
  readonly log: Logger;
}

/** The number of events that are read at once, and that are handled at the same time. */
const BATCH = 100;
const AT_ONCE = 10;
/** After this time, no more events of a batch are begun, so that a crash repeats few of them. */
const BATCH_MS = 1_000;
const TRANSACTION_MS = 5_000;
/** How often the position of a topic without events is stored. */
const IDLE_MS = 10_000;
const MAX_ERROR_LENGTH = 1_000;

/** An event with its key, and the error of its handler. */
interface Handled {
  readonly event: FailedEvent;
  readonly error: string | null;
}

/** One consumer in one process. It works while this process holds the lease of the consumer, whose position is that of the lease. */
export class ConsumerRun {
  readonly lease: string;
  readonly #consumer: DeclaredConsumer;
  readonly #topic: KeptTopic;
  readonly #parts: ConsumerParts;
  readonly #failed: FailedEvents;
  #settled = 0;
  /** The stored position; `null` while another process has the lease. */
  #position: number | null = null;
  #leading: AbortController | null = null;
  #working: Promise<void> | null = null;
  /** The topic has no more events up to here. */
  #readUpTo = 0;
  #storedAt = 0;
  #isWanted = false;
  #isStopped = false;
  #failures = 0;

  constructor(consumer: ConsumerDeclaration, parts: ConsumerParts) {
    this.#consumer = consumer as DeclaredConsumer;
    const { name, keep } = consumer.topic;
    this.#topic = { name, keep: keep ?? "1h" };
    this.lease = `consumer:${consumer.name}`;
    this.#parts = parts;
    this.#failed = new FailedEvents(parts.database, consumer.name);
  }

  /** @param position the stored position if this process holds the lease, or else `null` */
  lead(position: number | null, settled: number): void {
    if (position === null) {
      this.#leading?.abort();
      this.#leading = null;
      return;
    }
    if (this.#isStopped) return;
    if (this.#leading === null) {
      // A run of an earlier lease ends before its position is read again.
      if (this.#working !== null) return;
      this.#leading = new AbortController();
      this.#position = position;
      this.#readUpTo = position;
    }
    this.#settled = Math.max(this.#settled, settled);
    this.#work();
  }

  settledUpTo(seq: number): void {
    this.#settled = Math.max(this.#settled, seq);
    this.#work();
  }

  /** Resolves when no handler runs any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.lead(null, 0);
    await this.#working;
  }

  *figures(): Iterable<Figure> {
    yield { series: "portico_consumer_failures_total", labels: [this.#consumer.name], value: this.#failures };
  }

  #work(): void {
    this.#isWanted = true;
    if (this.#working !== null || this.#leading === null) return;
    const { signal } = this.#leading;
    this.#working = outsideRequest(() => this.#run(signal)).finally(() => {
      this.#working = null;
    });
    inBackground(this.#working);
  }

  async #run(signal: AbortSignal): Promise<void> {
    try {
      for (let hasMore = true; hasMore && !signal.aborted; ) {
        this.#isWanted = false;
        const hasRetried = await this.#retry(signal);
        const hasRead = await this.#advance(signal);
        hasMore = hasRetried || hasRead || this.#isWanted;
      }
    } catch (err) {
      // The renewal of the lease tries again.
      this.#parts.log.warn(
        { err: loggable(err), consumer: this.#consumer.name },
        "a consumer could not read or store its events, it tries again",
      );
    }
  }

  /** Handles the next events, and stores the position after them. */
  async #advance(signal: AbortSignal): Promise<boolean> {
    const from = this.#position;
    if (from === null || signal.aborted || this.#readUpTo >= this.#settled) return false;
    const settled = this.#settled;
    const after = Math.max(from, this.#readUpTo);
    const events = await this.#parts.table.read([this.#topic], after, settled, BATCH);
    await this.#reportGap(after);
    if (events.length === 0) {
      this.#readUpTo = settled;
      // Events of other topics move the position too, but not each of them.
      if (performance.now() - this.#storedAt > IDLE_MS) await this.#store(signal, from, settled, []);
      return false;
    }
    const keyed = events.map((event) => this.#keyed(event));
    const blocked = await this.#failed.blocked([...new Set(keyed.map(({ key }) => key))]);
    if (this.#consumer.transactional === undefined) await this.#handleAll(signal, from, keyed, blocked);
    else for (const event of keyed) await this.#handleInTransaction(signal, event, blocked);
    return true;
  }

  /** Handles events at the same time, those of a key in order, and begins them in the order of the topic. */
  async #handleAll(
    signal: AbortSignal,
    from: number,
    events: readonly FailedEvent[],
    blocked: ReadonlyMap<string, boolean>,
  ): Promise<void> {
    const begunAt = performance.now();
    const running = new Set<Promise<unknown>>();
    const ofKey = new Map<string, Promise<Handled>>();
    const begun: Promise<Handled>[] = [];
    for (const event of events) {
      if (signal.aborted || (begun.length > 0 && performance.now() - begunAt > BATCH_MS)) break;
      const before = ofKey.get(event.key);
      const isBlocked = blocked.has(event.key) || (before !== undefined && (await before).error !== null);
      while (running.size >= AT_ONCE) await Promise.race(running);
      if (signal.aborted) break;
      const work: Promise<Handled> = isBlocked
        ? Promise.resolve({ event: { ...event, failures: 0 }, error: WAITING })
        : this.#attempt(signal, event);
      const run: Promise<unknown> = work.then(() => running.delete(run));
      running.add(run);
      ofKey.set(event.key, work);
      begun.push(work);
    }
    const handled = await Promise.all(begun);
    failpoint("event-handled");
    const last = handled.at(-1);
    if (last === undefined) return;
    const failed = handled.filter(({ error }) => error !== null);
    await this.#store(signal, from, last.event.seq, failed, blocked);
  }

  async #attempt(signal: AbortSignal, event: FailedEvent, trx?: Transaction): Promise<Handled> {
    const { handler } = this.#consumer;
    const attempt = event.failures + 1;
    try {
      await handler(JSON.parse(event.text), { attempt, seq: event.seq, signal, ...(trx === undefined ? {} : { trx }) });
      return { event, error: null };
    } catch (err) {
      this.#failures++;
      this.#parts.log.warn(
        { err: loggable(err), consumer: this.#consumer.name, seq: event.seq, attempt },
        "a consumer failed to handle an event",
      );
      return { event: { ...event, failures: attempt }, error: describeError(err).slice(0, MAX_ERROR_LENGTH) };
    }
  }

  async #handleInTransaction(
    signal: AbortSignal,
    event: FailedEvent,
    blocked: ReadonlyMap<string, boolean>,
  ): Promise<void> {
    const from = this.#position;
    if (signal.aborted || from === null) return;
    let outcome: Handled = { event, error: WAITING };
    if (!blocked.has(event.key) && !(await this.#failed.blocked([event.key])).has(event.key)) {
      outcome = await this.#inTransaction(signal, event, (trx) =>
        this.#parts.leases.advance(trx, this.lease, from, event.seq),
      );
      if (outcome.error === null) {
        this.#position = event.seq;
        return;
      }
    }
    if (outcome.error !== LOST) await this.#store(signal, from, event.seq, [outcome], blocked);
  }

  /**
   * Handles an event in a transaction.
   *
   * @param finish records, as part of the transaction, that it was handled; returns `false` if another process has done so
   */
  async #inTransaction(
    signal: AbortSignal,
    event: FailedEvent,
    finish: (trx: Transaction) => Promise<boolean>,
  ): Promise<Handled> {
    const { transactional } = this.#consumer;
    const trx = await (transactional as Database).begin();
    let timer: NodeJS.Timeout | undefined;
    try {
      const late = new Promise<Handled>((resolve) => {
        const error = `The handler took more than ${TRANSACTION_MS / 1000} s`;
        timer = setTimeout(() => resolve({ event: { ...event, failures: event.failures + 1 }, error }), TRANSACTION_MS);
      });
      const outcome = await Promise.race([this.#attempt(signal, event, trx), late]);
      if (outcome.error !== null) return outcome;
      failpoint("event-handled");
      if (!(await finish(asPortico(trx)))) return { event, error: LOST };
      await trx.end("success");
      return outcome;
    } catch (error) {
      return {
        event: { ...event, failures: event.failures + 1 },
        error: describeError(error).slice(0, MAX_ERROR_LENGTH),
      };
    } finally {
      clearTimeout(timer);
      await trx.end("failure");
    }
  }

  /** Stores the new position and the failed events with one transaction. */
  async #store(
    signal: AbortSignal,
    from: number,
    to: number,
    failed: readonly Handled[],
    blocked: ReadonlyMap<string, boolean> = new Map(),
  ): Promise<void> {
    const trx = await this.#parts.database.begin();
    this.#storedAt = performance.now();
    try {
      // First, because it waits for a process that still believes to hold the lease.
      const isOurs = await this.#parts.leases.advance(trx, this.lease, from, to);
      if (isOurs) {
        for (const { event, error } of failed)
          await this.#failed.add(trx, event, error ?? "", blocked.get(event.key) === true);
        for (const { event } of failed.filter((one) => one.event.failures >= this.#consumer.maxFailures))
          await this.#setAside(trx, event);
      }
      await trx.end(isOurs ? "success" : "failure");
      if (isOurs) this.#position = to;
      else if (!signal.aborted) this.lead(null, 0);
    } finally {
      await trx.end("failure");
    }
    failpoint("position-stored");
  }

  /** Handles the failed events that are due again. Returns whether there may be more. */
  async #retry(signal: AbortSignal): Promise<boolean> {
    const due = await this.#failed.due(BATCH);
    for (const event of due) {
      if (signal.aborted) return false;
      const { database } = this.#parts;
      const outcome =
        this.#consumer.transactional === undefined
          ? await this.#attempt(signal, event)
          : await this.#inTransaction(signal, event, (trx) => this.#failed.remove(trx, event.seq));
      if (outcome.error === null) await this.#failed.remove(database, event.seq);
      else if (outcome.error === LOST) return false;
      else {
        await this.#failed.failed(outcome.event, outcome.error);
        if (outcome.event.failures >= this.#consumer.maxFailures) await this.#setAside(database, outcome.event);
      }
    }
    return due.length > 0;
  }

  async #setAside(connection: Database, event: FailedEvent): Promise<void> {
    const { name } = this.#consumer;
    await this.#failed.setAside(connection, event.key);
    this.#parts.log.error(
      { consumer: name, key: event.key, seq: event.seq },
      `the events of a key were set aside after ${event.failures} failures: fix the cause, then run portico events retry ${name}`,
    );
  }

  /** Reports events that were removed before this consumer read them, once per gap. */
  async #reportGap(from: number): Promise<void> {
    const floor = await this.#parts.table.floorOf(this.#topic.keep);
    if (from >= floor || floor === this.#reportedFloor) return;
    this.#reportedFloor = floor;
    this.#parts.log.error(
      { consumer: this.#consumer.name },
      `a consumer was behind by more than ${this.#topic.keep}, so events may have been removed before it handled them`,
    );
  }
  #reportedFloor = 0;

  #keyed({ seq, topic, text }: StoredEvent): FailedEvent {
    return { seq, topic, text, key: this.#consumer.key(JSON.parse(text)), failures: 0 };
  }
}

/** The error of an event that was not begun, because an earlier one with its key has failed. */
const WAITING = "an earlier event with this key has failed";
/** The error of an event that another process has handled meanwhile. */
const LOST = "another process has taken over";
