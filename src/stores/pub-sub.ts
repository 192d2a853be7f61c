import { ConfigurationError } from "../core/configuration-error.ts";
import { PorticoError } from "../core/portico-error.ts";
import type { StoreLifeCycle } from "./store-life-cycle.ts";

/** A named stream of events; the value types both ends. Made by `topic()`. */
export interface Topic<in out T> {
  readonly name: string;
  /** Never there: it carries the type. */
  readonly "~type"?: (value: T) => T;
}

/** What arrives of a value that travels as JSON; `never` in the place of what arrives as something else, or not at all. */
export type Arriving<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null
    ? T
    : T extends bigint | symbol | undefined | { toJSON(...args: never): unknown } | ((...args: never) => unknown)
      ? never
      : T extends readonly unknown[]
        ? { readonly [I in keyof T]: Arriving<T[I]> }
        : { readonly [K in keyof T]: Arriving<Exclude<T[K], undefined>> | Extract<T[K], undefined> };
/** Says in a sentence why something is no event, and which of its properties are not. */
export type CheckEvent<T> = [T] extends [Arriving<T>]
  ? unknown
  : { readonly "an event travels as JSON, and this does not arrive as it was": Lost<T> };
/** The properties that JSON changes, or all of it. */
export type Lost<T> = T extends { toJSON(...args: never): unknown } | readonly unknown[]
  ? T
  : T extends object
    ? {
        readonly [K in keyof T as [Exclude<T[K], undefined>] extends [Arriving<Exclude<T[K], undefined>>]
          ? never
          : K]: T[K];
      }
    : T;

/**
 * Names a stream of events and the type of its values. The name is what counts on the bus: two topics of one name are one
 * stream. Throws `ConfigurationError` for an empty name.
 *
 * Events travel as JSON on every bus, so their type is one that JSON gives back as it was: `at: string` and not `at: Date`, no
 * `bigint`, no functions. Anything else is refused by the compiler here, and not found out where it is read.
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
export function topic<T>(name: string & CheckEvent<T>): Topic<T> {
  if (typeof name !== "string" || name === "") throw new ConfigurationError("topic.name", "a non-empty string", name);
  return Object.freeze({ name });
}

export interface SubscribeOptions {
  /** Ends the subscription when it is aborted, without an error. */
  readonly signal?: AbortSignal;
}

/**
 * Hands events to everybody who listens at that moment, in every process. Nothing is kept for those who come later.
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
   * Hands the value to the bus as JSON; resolves when the bus has it, which is before anybody has read it. Rejects with a
   * `TypeError` that names the topic for a value that JSON cannot carry.
   */
  publish<T>(topic: Topic<T>, value: NoInfer<T>): Promise<void>;
  /**
   * The events of a topic. Each iterator is a subscription of its own, from the moment it is made: what this bus publishes
   * after that reaches it, in the order of publishing, each event as a copy that is its own.
   *
   * It ends at once when it is left (`break`, `return()`), also while a `next()` is waiting, and when `signal` is aborted.
   * When events may have been lost it hands out those that came before, throws `PubSubGap`, and is over. An iterator
   * that is made must be read or returned: it holds its place until then.
   */
  subscribe<T>(topic: Topic<T>, options?: SubscribeOptions): AsyncIterable<T, void, void>;
  /**
   * Resolves when the subscriptions made so far hold for other processes too: what those publish from then on arrives.
   * Whoever reads a state and follows its changes subscribes, waits for this, and then reads. Never rejects: a
   * subscription that could not be made ends with `PubSubGap`.
   */
  settled(): Promise<void>;
}

/**
 * Events of a topic may have been lost: the subscriber was too slow, or the bus was away. Whoever needs to be complete
 * reads the state anew and subscribes again.
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

/** The text of an event, as every bus carries it. Throws `TypeError` for what JSON cannot carry. */
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

/** Whether the text can be an event: whoever reaches the server of a bus may send anything there. */
export function isEvent(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
