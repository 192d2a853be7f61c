import { failpoint } from "../../core/work/failpoint.ts";
import { inBackground } from "../../core/work/in-background.ts";
import type { EventTable, KeptTopic } from "./event-table.ts";
import { type EventPage, KeptSubscription } from "./kept-subscription.ts";

/** The number of events that are read at once. */
const PAGE = 500;
/** The pages that are kept for other subscribers at about the same position, as characters. */
const MAX_KEPT = 8_000_000;
/** After a failed read. */
const RETRY_MS = 200;

/**
 * Brings settled events from the table to the subscribers of this process. Subscribers that are up to date share one read for all
 * topics. One that is behind reads pages from its own position, which others at that position share, until it is up to date.
 */
export class Delivery {
  readonly #table: EventTable;
  /** All subscriptions that have not ended. */
  readonly #open = new Set<KeptSubscription>();
  readonly #attached = new Map<string, Set<KeptSubscription>>();
  readonly #keeps = new Map<string, KeptTopic>();
  #settled = 0;
  /** The position that attached subscribers have. */
  #position = 0;
  /** The topics of the read that is under way. */
  #reading: ReadonlySet<string> | null = null;
  readonly #pages = new Map<string, EventPage[]>();
  readonly #pending = new Map<string, { readonly after: number; readonly page: Promise<EventPage> }[]>();
  #kept = 0;
  /** Counts the histories of the database. Events that were read in an earlier one are dropped. */
  #history = 0;
  #isClosed = false;

  constructor(table: EventTable) {
    this.#table = table;
  }

  get settled(): number {
    return this.#settled;
  }
  get topicCount(): number {
    return this.#attached.size;
  }
  get waitingCount(): number {
    let sum = 0;
    for (const subscriptions of this.#attached.values()) for (const { queued } of subscriptions) sum += queued;
    return sum;
  }

  /** All events up to this position can be read. */
  settledUpTo(settled: number): void {
    if (settled <= this.#settled) return;
    this.#settled = settled;
    if (this.#reading === null) inBackground(this.#deliver());
  }

  /** Follows a topic from a position on; without one, from now on. */
  follow(topic: KeptTopic, after: number | null, signal: AbortSignal | undefined): KeptSubscription {
    const subscription = new KeptSubscription(this, topic, after ?? this.#settled, signal);
    if (this.#isClosed) subscription.end();
    if (!subscription.isOver) this.#open.add(subscription);
    return subscription;
  }

  /** Lets a subscription receive events as they settle, if nothing is between its position and those. */
  attach(subscription: KeptSubscription): boolean {
    const { topic, position } = subscription;
    if (this.#isClosed || position < this.#position) return false;
    if (this.#reading !== null && !this.#reading.has(topic.name)) return false;
    this.#keeps.set(topic.name, topic);
    this.#attached.set(topic.name, (this.#attached.get(topic.name) ?? new Set()).add(subscription));
    return true;
  }

  detach(subscription: KeptSubscription): void {
    const { name } = subscription.topic;
    const others = this.#attached.get(name);
    if (others?.delete(subscription) !== true || others.size > 0) return;
    this.#attached.delete(name);
    this.#keeps.delete(name);
  }

  left(subscription: KeptSubscription): void {
    this.detach(subscription);
    this.#open.delete(subscription);
  }

  /** Returns settled events of a topic after a position. An empty page ends at the settled position. */
  async page(topic: KeptTopic, after: number): Promise<EventPage> {
    const kept = this.#pages.get(topic.name)?.find((page) => page.after <= after && after < page.upTo);
    if (kept !== undefined) return { ...kept, after, events: kept.events.filter(({ seq }) => seq > after) };
    const pending = this.#pending.get(topic.name) ?? [];
    const other = pending.find((read) => read.after <= after);
    if (other !== undefined) {
      const page = await other.page;
      if (after < page.upTo) return { ...page, after, events: page.events.filter(({ seq }) => seq > after) };
    }
    const read = { after, page: this.#readPage(topic, after) };
    this.#pending.set(topic.name, [...(this.#pending.get(topic.name) ?? []), read]);
    try {
      return await read.page;
    } finally {
      this.#pending.set(
        topic.name,
        (this.#pending.get(topic.name) ?? []).filter((one) => one !== read),
      );
    }
  }

  close(): void {
    this.#isClosed = true;
    // An entry that is removed meanwhile is skipped.
    for (const subscription of this.#open) subscription.end();
  }

  /** Begins anew with the numbers of another history. No subscription can know which of its events are part of that one. */
  restart(settled: number, reason: string): void {
    this.#history++;
    this.#settled = settled;
    this.#position = settled;
    this.#pages.clear();
    this.#pending.clear();
    this.#kept = 0;
    for (const subscription of this.#open) subscription.lose(reason);
  }

  async #readPage(topic: KeptTopic, after: number): Promise<EventPage> {
    const [settled, history] = [this.#settled, this.#history];
    const events = after < settled ? await this.#table.read([topic], after, settled, PAGE) : [];
    const upTo = events.length < PAGE ? settled : (events.at(-1)?.seq ?? settled);
    // Looked up after the read, because events may be removed meanwhile.
    const isTooOld = after < settled && after < (await this.#table.floorOf(topic.keep));
    const page = { after, upTo, events, isTooOld };
    if (events.length === PAGE && !isTooOld && history === this.#history) this.#keep(topic.name, page);
    return page;
  }

  #keep(topic: string, page: EventPage): void {
    this.#kept += sizeOf(page);
    this.#pages.set(topic, [...(this.#pages.get(topic) ?? []), page]);
    while (this.#kept > MAX_KEPT && this.#pages.size > 0) {
      const [name, [oldest, ...others]] = this.#pages.entries().next().value as [string, [EventPage, ...EventPage[]]];
      this.#kept -= sizeOf(oldest);
      this.#pages.delete(name);
      if (others.length > 0) this.#pages.set(name, others);
    }
  }

  /** Reads what has settled since the last time, for all attached subscribers. */
  async #deliver(): Promise<void> {
    while (this.#position < this.#settled && !this.#isClosed) {
      const topics = [...this.#keeps.values()];
      const [settled, history] = [this.#settled, this.#history];
      if (topics.length === 0) {
        this.#position = settled;
        return;
      }
      this.#reading = new Set(topics.map(({ name }) => name));
      try {
        const events = await this.#table.read(topics, this.#position, settled, PAGE);
        failpoint("events-read");
        if (history !== this.#history) continue;
        for (const event of events)
          for (const subscription of this.#attached.get(event.topic) ?? []) subscription.deliver(event);
        this.#position = events.length < PAGE ? settled : (events.at(-1)?.seq ?? settled);
        for (const subscriptions of this.#attached.values())
          for (const subscription of subscriptions) subscription.passed(this.#position);
      } catch {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      } finally {
        this.#reading = null;
      }
    }
  }
}

function sizeOf({ events }: EventPage): number {
  return events.reduce((sum, { text }) => sum + text.length + 100, 0);
}
