import { PubSubGap } from "../../stores/pub-sub.ts";
import type { KeptTopic, StoredEvent } from "./event-table.ts";

/** A subscriber with more unread events reads further ones from the table when it has read these. */
const MAX_QUEUED = 500;

/** Consecutive events of one topic. */
export interface EventPage {
  readonly after: number;
  /** The topic has no other events between `after` and this position. */
  readonly upTo: number;
  readonly events: readonly StoredEvent[];
  /** Whether events after `after` may have been removed. */
  readonly isTooOld: boolean;
}

/** The settled events of a database. */
interface SettledEvents {
  attach(subscription: KeptSubscription): boolean;
  detach(subscription: KeptSubscription): void;
  left(subscription: KeptSubscription): void;
  page(topic: KeptTopic, after: number): Promise<EventPage>;
}

/** One subscriber of a durable topic: the events after its position, in order. It can't miss any that are still kept. */
export class KeptSubscription implements AsyncIterator<StoredEvent, void, void> {
  readonly topic: KeptTopic;
  readonly #settled: SettledEvents;
  readonly #signal: AbortSignal | undefined;
  #position: number;
  /** The number of the event that was returned last. */
  #returned: number;
  #queue: StoredEvent[] = [];
  #isAttached = false;
  #isOver = false;
  #gap: PubSubGap | null = null;
  #wake: PromiseWithResolvers<void> | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(settled: SettledEvents, topic: KeptTopic, after: number, signal: AbortSignal | undefined) {
    this.#settled = settled;
    this.topic = topic;
    this.#position = after;
    this.#returned = after;
    this.#signal = signal;
    signal?.addEventListener("abort", this.end);
    if (signal?.aborted === true) this.end();
    else this.#isAttached = settled.attach(this);
  }

  /** Everything up to this position was queued. */
  get position(): number {
    return this.#position;
  }
  get queued(): number {
    return this.#queue.length;
  }
  get isOver(): boolean {
    return this.#isOver;
  }
  get seq(): number {
    return this.#returned;
  }
  /** All events up to this number were returned, and the next one is awaited; otherwise `null`. */
  get idleSeq(): number | null {
    return this.#wake !== null && this.#queue.length === 0 ? this.#position : null;
  }

  /** Takes an event that has settled. */
  deliver(event: StoredEvent): void {
    if (event.seq <= this.#position) return;
    if (this.#queue.length >= MAX_QUEUED) return this.#detach();
    this.#queue.push(event);
    this.#position = event.seq;
    this.#wake?.resolve();
  }

  /** The topic has no other events up to this position. */
  passed(position: number): void {
    this.#position = Math.max(this.#position, position);
  }

  next(): Promise<IteratorResult<StoredEvent, void>> {
    const result = this.#turn.then(() => this.#next());
    this.#turn = result.catch(() => {});
    return result;
  }

  async return(): Promise<IteratorResult<StoredEvent, void>> {
    this.end();
    return { done: true, value: undefined };
  }

  /** Events may be lost here: `next` returns those that came before, then throws. */
  lose(reason: string): void {
    if (this.#isOver) return;
    this.#gap = new PubSubGap(this.topic.name, reason);
    this.#close();
  }

  /** Ends the subscription without an error. */
  readonly end = (): void => {
    this.#queue = [];
    this.#close();
  };

  #close(): void {
    this.#isOver = true;
    this.#isAttached = false;
    this.#settled.left(this);
    this.#signal?.removeEventListener("abort", this.end);
    this.#wake?.resolve();
  }

  async #next(): Promise<IteratorResult<StoredEvent, void>> {
    for (;;) {
      const event = this.#queue.shift();
      if (event !== undefined) {
        this.#returned = event.seq;
        return { done: false, value: event };
      }
      const gap = this.#gap;
      this.#gap = null;
      if (gap !== null) throw gap;
      if (this.#isOver) return { done: true, value: undefined };
      if (this.#isAttached) await this.#awaken();
      else await this.#catchUp();
    }
  }

  async #awaken(): Promise<void> {
    this.#wake = Promise.withResolvers();
    await this.#wake.promise;
    this.#wake = null;
  }

  /** Reads a page, or continues with the others if there is none. */
  async #catchUp(): Promise<void> {
    const before = this.#position;
    const page = await this.#settled.page(this.topic, before).catch(() => null);
    if (this.#isOver) return;
    // The database does not respond, or the others are reading and will have passed this position soon.
    if (page === null) return pause(200);
    if (page.isTooOld) return this.lose(`the subscriber is further behind than ${this.topic.keep}`);
    this.#queue.push(...page.events);
    this.#position = Math.max(before, page.upTo);
    this.#isAttached = this.#settled.attach(this);
    if (!this.#isAttached && page.events.length === 0) await pause(5);
  }

  #detach(): void {
    this.#isAttached = false;
    this.#settled.detach(this);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
