import { ConfigurationError } from "../core/configuration-error.ts";
import type { Logger } from "../core/logger.ts";
import type { Figure } from "../core/parts/parts.ts";
import { type Keep, type PubSub, type Topic, transientName } from "./pub-sub.ts";

/** An event of a durable topic, before it is a row. */
export interface NewEvent {
  readonly topic: string;
  readonly keep: Keep;
  readonly text: string;
}

/** Runs a statement on the connection of a transaction, whichever library began it, and returns the number of returned rows. */
export type RunStatement = (sql: string, parameters: readonly unknown[]) => Promise<number>;

/** A handler that a process runs for the events of a topic. The module that declares it knows the rest. */
export interface ConsumerDeclaration {
  readonly name: string;
  readonly topic: Topic<any>;
}

/** A place among the events of a database. */
export interface EventPlace {
  /** Tells the numbers of one history of the database from those of another, such as that of a promoted replica. */
  readonly epoch: string;
  /** The number of the last event before the place. */
  readonly seq: number;
}

/** The events of a durable topic after a place. */
export interface KeptEvents<T> extends AsyncIterator<T, void, void>, EventPlace {
  return(): Promise<IteratorResult<T, void>>;
  /** The number of the event that was returned last. */
  readonly seq: number;
  /** All events up to this number were returned, and the next one is awaited; `null` while there are others to return. */
  readonly idleSeq: number | null;
}

/** The table behind a bus that keeps the events of durable topics. */
export interface Outbox {
  /** Writes events with one statement, as the last work of a transaction. Rejects if the transaction is in another database. */
  write(run: RunStatement, events: readonly NewEvent[]): Promise<void>;
  /** Announces that a transaction with events was committed. */
  ring(): void;
  /**
   * Follows a durable topic after a place; without one, from now on. Rejects with `PubSubGap` if the events after the place are
   * not known to be complete.
   */
  follow<T>(topic: Topic<T>, after: EventPlace | null, signal: AbortSignal): Promise<KeptEvents<T>>;
  /** Runs a consumer in this process from now on. */
  consume(consumer: ConsumerDeclaration, log: Logger): Promise<void>;
  /** Stops all consumers, once the events that they handle at the moment are finished, and leaves the relay to others. */
  stop(): Promise<void>;
  figures(): Iterable<Figure>;
}

const outboxes = new WeakMap<PubSub, Outbox>();

/** The outbox of a bus; `undefined` for one that keeps no events. */
export function outboxOf(bus: PubSub): Outbox | undefined {
  return outboxes.get(bus);
}

/** Records the outbox of a bus. */
export function keepsEvents(bus: PubSub, outbox: Outbox): void {
  outboxes.set(bus, outbox);
}

/** The error for an option that must be, or return, a durable topic. */
export function notDurable(option: string, topic: Topic<any> | undefined): ConfigurationError {
  return new ConfigurationError(option, `must be durable: declare ${topic?.name} with keep, such as "1d"`);
}

/** Returns the outbox of a bus. Throws `ConfigurationError` with the topic if it has none. */
export function outboxFor(bus: PubSub, topic: Topic<any>): Outbox {
  const outbox = outboxes.get(bus);
  if (outbox !== undefined) return outbox;
  transientName(topic);
  throw notDurable("consume.topic", topic);
}
