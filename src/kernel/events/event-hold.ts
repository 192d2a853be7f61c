import { AsyncLocalStorage } from "node:async_hooks";
import { loggable } from "../../core/describe-error.ts";
import type { Logger } from "../../core/logger.ts";
import { type NewEvent, type Outbox, outboxFor, type RunStatement } from "../../stores/outbox.ts";
import { encodeEvent, type PubSub, type Topic } from "../../stores/pub-sub.ts";

/** A context that publishes events. */
export interface Publisher {
  readonly log: Pick<Logger, "error">;
}

/** An event that waits for its transaction. */
interface Held {
  readonly bus: PubSub;
  readonly topic: Topic<any>;
  readonly text: string;
}

/** The hold of the transaction that the current code has begun, among several that may be open at once. */
const begun = new AsyncLocalStorage<EventHold>();

/**
 * Holds the events that a context publishes while a transaction is open, and drops them after a rollback, so that no subscriber
 * receives an event for data that does not exist. Those of durable topics are written before the commit, as part of the
 * transaction. All others are published after it.
 */
export class EventHold {
  readonly #ctx: Publisher;
  readonly #outer: EventHold | null;
  /** The hold that the surrounding code had begun. */
  readonly #around: EventHold | undefined;
  #before: EventHold | undefined;
  readonly #held: Held[] = [];
  #state: "open" | "over" | null = null;

  /** @internal See `holdEvents`. */
  constructor(ctx: Publisher, outer: EventHold | null, around: EventHold | undefined) {
    this.#ctx = ctx;
    this.#outer = outer;
    this.#around = around?.alive("around");
  }

  /** Marks the transaction as open. */
  open(): void {
    this.#state = "open";
    this.#before = holds.get(this.#ctx);
    holds.set(this.#ctx, this);
  }

  isOpenFor(ctx: Publisher): boolean {
    return this.#state === "open" && this.#ctx === ctx;
  }
  /** This hold, or the next one that has not ended: around it in the code, or opened before it in the context. */
  alive(where: "around" | "before"): EventHold | undefined {
    if (this.#state !== "over") return this;
    return (where === "around" ? this.#around : this.#before)?.alive(where);
  }
  get around(): EventHold | undefined {
    return this.#around?.alive("around");
  }

  /** Throws `TypeError` for a value that cannot be serialized, here and not after the commit. */
  async add<T>(bus: PubSub, topic: Topic<T>, value: T): Promise<void> {
    if (topic.keep !== undefined) outboxFor(bus, topic);
    this.#held.push({ bus, topic, text: encodeEvent(topic.name, value) });
  }

  /** Writes the events of durable topics. It is the last work of the transaction, so that it takes the locks of its rows first. */
  async write(run: RunStatement): Promise<void> {
    for (const [outbox, events] of this.#durable()) await outbox.write(run, events);
  }

  /** Ends the transaction. The events of a savepoint wait for the transaction around it. */
  async end(isCommitted: boolean): Promise<void> {
    this.#state = "over";
    if (holds.get(this.#ctx) === this) setHold(this.#ctx, this.#before?.alive("before"));
    if (!isCommitted) return;
    if (this.#outer === null) await this.#publish();
    else this.#outer.#held.push(...this.#held);
  }

  /** The transaction was committed, with the events of durable topics. */
  async #publish(): Promise<void> {
    for (const [outbox] of this.#durable()) outbox.ring();
    for (const { bus, topic, text } of this.#held)
      if (topic.keep === undefined)
        await bus.publish(topic, JSON.parse(text)).catch((err: unknown) => this.#report(err));
  }

  #durable(): ReadonlyMap<Outbox, readonly NewEvent[]> {
    const all = new Map<Outbox, NewEvent[]>();
    for (const { bus, topic, text } of this.#held) {
      if (topic.keep === undefined) continue;
      const outbox = outboxFor(bus, topic);
      const events = all.get(outbox) ?? [];
      all.set(outbox, events);
      events.push({ topic: topic.name, keep: topic.keep, text });
    }
    return all;
  }

  #report(err: unknown): void {
    this.#ctx.log.error({ err: loggable(err) }, "failed to publish an event after its transaction was committed");
  }
}

const holds = new WeakMap<Publisher, EventHold>();

function setHold(ctx: Publisher, hold: EventHold | undefined): void {
  if (hold === undefined) holds.delete(ctx);
  else holds.set(ctx, hold);
}

/**
 * Holds the events of the context until the end of a transaction, from the moment it opens; `outer` is the transaction around
 * it. Call it synchronously, before anything is awaited, so that the code that continues from there is known.
 */
export function holdEvents(ctx: Publisher, outer: EventHold | null = null): EventHold {
  const hold = new EventHold(ctx, outer, begun.getStore());
  begun.enterWith(hold);
  return hold;
}

/** Publishes for a context: at once, or with the commit of its transaction. */
export function publishFrom<T>(ctx: Publisher, bus: PubSub, topic: Topic<T>, value: NoInfer<T>): Promise<void> {
  const hold = ownHold(ctx) ?? holds.get(ctx);
  return hold === undefined ? bus.publish(topic, value) : hold.add(bus, topic, value);
}

function ownHold(ctx: Publisher): EventHold | undefined {
  let hold = begun.getStore();
  while (hold !== undefined && !hold.isOpenFor(ctx)) hold = hold.around;
  return hold;
}
