import { ConfigurationError } from "../core/configuration-error.ts";
import { PorticoError } from "../core/portico-error.ts";
import { oneOf, resolveOptions } from "../core/resolve-options.ts";
import type { StoreLifeCycle } from "./store-life-cycle.ts";

/** How long the events of a durable topic are kept. */
export type Keep = "1h" | "1d" | "7d" | "30d";

/** A named stream of events with a typed value. Made by `topic()`. */
export interface Topic<in out T> {
  readonly name: string;
  /** Set for a durable topic, whose events are kept in a database. */
  readonly keep?: Keep;
  /** Never set: it only carries the type. */
  readonly "~type"?: (value: T) => T;
}

/** The type of a value after a round trip through JSON; `never` for parts that JSON changes or drops. */
export type Arriving<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null
    ? T
    : T extends bigint | symbol | undefined | { toJSON(...args: never): unknown } | ((...args: never) => unknown)
      ? never
      : T extends readonly unknown[]
        ? { readonly [I in keyof T]: Arriving<T[I]> }
        : { readonly [K in keyof T]: Arriving<Exclude<T[K], undefined>> | Extract<T[K], undefined> };
/** A sentence as a type: why a value cannot be an event, and which of its properties are to blame. */
export type CheckEvent<T> = [T] extends [Arriving<T>]
  ? unknown
  : { readonly "an event travels as JSON, and this does not arrive as it was": Lost<T> };
/** The properties that JSON changes, or the whole value. */
export type Lost<T> = T extends { toJSON(...args: never): unknown } | readonly unknown[]
  ? T
  : T extends object
    ? {
        readonly [K in keyof T as [Exclude<T[K], undefined>] extends [Arriving<Exclude<T[K], undefined>>]
          ? never
          : K]: T[K];
      }
    : T;

export interface TopicOptions {
  /**
   * Makes the topic durable: its events are rows of the database, written in the transaction that publishes them, and kept for
   * this time. It needs the bus of `sqlStores` or `outbox`. @default none: subscribers that are connected receive the events
   */
  readonly keep?: Keep;
}

/** The first durable topic that this process has declared. Names may contain ids, so not all of them are remembered. */
let durable: string | null = null;

/** A durable topic of this process, which an application must be able to keep; `null` if there is none. */
export function durableTopic(): string | null {
  return durable;
}

/**
 * Names a stream of events and the type of its values. The bus identifies a topic by its name: two topics with one name are one
 * stream. Throws `ConfigurationError` for an empty name.
 *
 * Events travel as JSON on every bus, so their type must survive a round trip through JSON: `at: string` and not `at: Date`, no
 * `bigint`, no functions. Anything else is a compile-time error here, not a surprise where it is read.
 *
 * @example
 * ```ts
 * import { memoryStores, topic } from "portico";
 *
 * const orderPlaced = topic<{ id: string; total: number }>("orders.placed");
 *
 * await memoryStores().bus.publish(orderPlaced, { id: "7", total: 4200 });
 * ```
 */
export function topic<T>(name: string & CheckEvent<T>, options: TopicOptions = {}): Topic<T> {
  if (typeof name !== "string" || name === "") throw new ConfigurationError("topic.name", "a non-empty string", name);
  const { keep } = resolveOptions("topic", options, { keep: oneOf("1h", "1d", "7d", "30d") });
  if (keep === undefined) return Object.freeze({ name });
  durable ??= name;
  return Object.freeze({ name, keep });
}

/**
 * Returns the name of a topic for a bus that keeps no events. Throws `ConfigurationError` for a durable topic. Every such bus reads
 * the names of topics only through this function.
 */
export function transientName({ name, keep }: Topic<any>): string {
  if (keep === undefined) return name;
  throw new ConfigurationError(
    "PorticoApp.stores.bus",
    `cannot keep the events of ${name}, which is declared with keep: "${keep}". Use sqlStores, or wrap the bus in outbox(database, bus)`,
  );
}

export interface SubscribeOptions {
  /** Ends the subscription when it is aborted, without an error. */
  readonly signal?: AbortSignal;
}

/**
 * Delivers events to all current subscribers, in every process. Nothing is kept for later subscribers, except the events of
 * durable topics.
 *
 * @example
 * ```ts
 * import { type PubSub, PubSubGap, topic } from "portico";
 *
 * const priceChanged = topic<{ isbn: string; cents: number }>("prices.changed");
 *
 * async function follow(bus: PubSub, prices: Map<string, number>): Promise<void> {
 *   try {
 *     for await (const { isbn, cents } of bus.subscribe(priceChanged)) prices.set(isbn, cents);
 *   } catch (error) {
 *     if (!(error instanceof PubSubGap)) throw error;
 *     prices.clear(); // Some changes were missed: read them again.
 *     await follow(bus, prices);
 *   }
 * }
 * ```
 */
export interface PubSub extends StoreLifeCycle {
  /**
   * Whether events from other processes arrive at the moment. Only a bus between processes has it. A cache that relies on
   * events must not return what it holds while this is `false`: its subscription ends with `PubSubGap` only afterwards.
   */
  readonly isConnected?: boolean;
  /** The number of topics that this process is subscribed to. It is shown in metrics. */
  readonly topicCount?: number;
  /** The number of events that wait for a subscriber, or for the server. It is shown in metrics. */
  readonly waitingCount?: number;
  /**
   * Publishes the value as JSON. Resolves when the bus has accepted it, which is before any subscriber reads it. Rejects with a
   * `TypeError` that names the topic if the value cannot be serialized, and with `ConfigurationError` if the topic is durable and
   * this bus cannot keep events.
   */
  publish<T>(topic: Topic<T>, value: NoInfer<T>): Promise<void>;
  /**
   * The events of a topic. Each iterator is a separate subscription from the moment it is created. It receives everything this
   * bus publishes afterwards, in order, each event as a separate copy.
   *
   * It ends at once on `break` or `return()`, also while a `next()` is waiting, and when `signal` is aborted. If events may
   * have been lost, it returns those that came before, throws `PubSubGap` and ends. An iterator must be read or returned: until
   * then it holds its place.
   */
  subscribe<T>(topic: Topic<T>, options?: SubscribeOptions): AsyncIterable<T, void, void>;
  /**
   * Resolves when the subscriptions made so far are active in other processes too: events that those publish from then on
   * arrive. To read a state and follow its changes, subscribe, await this, then read. Never rejects: a subscription that could
   * not be established ends with `PubSubGap`.
   */
  settled(): Promise<void>;
}

/**
 * Events of a topic may have been lost, because the subscriber was too slow or the bus was unavailable. If you need every
 * event, read the state again and resubscribe.
 *
 * @example
 * ```ts
 * import { PubSubGap } from "portico";
 *
 * function mayAskAgain(error: unknown): boolean {
 *   return error instanceof PubSubGap;
 * }
 * ```
 */
export class PubSubGap extends PorticoError {
  override readonly name: string = "PubSubGap";
  /** The name of the topic. */
  readonly topic: string;

  constructor(topic: string, reason: string, options: { readonly cause?: unknown } = {}) {
    super("PUBSUB_GAP", `events of ${topic} may have been lost: ${reason}`, { status: 500, ...options });
    this.topic = topic;
  }
}

/** The text of an event, as every bus transmits it. Throws `TypeError` for a value that cannot be serialized. */
export function encodeEvent(topic: string, value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new TypeError(`an event of ${topic} must be serializable as JSON`, { cause });
  }
  if (text === undefined)
    throw new TypeError(`an event of ${topic} must be serializable as JSON, received ${typeof value}`);
  return text;
}

/** Whether the text can be an event, because anyone with access to the bus's server may send anything there. */
export function isEvent(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
