import { ConfigurationError } from "../../core/configuration-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { callable, integerFrom, optional, required, resolveOptions, thing } from "../../core/resolve-options.ts";
import { type ConsumerDeclaration, notDurable } from "../../stores/outbox.ts";
import type { Topic } from "../../stores/pub-sub.ts";
import type { Database, Transaction } from "../database/database.ts";

/** A handler for the events of a topic, made by `consume` and passed to `app.consume`. */
export interface Consumer extends ConsumerDeclaration {
  /** The name that its position is stored under. */
  readonly name: string;
}

export interface ConsumeOptions<T> {
  /**
   * The events with one key are handled in order, and those of different keys at the same time. A failed event delays only
   * events with its key. It is often the id of a row.
   */
  readonly key: (event: T) => string;
  /** After this many failures, an event and all later ones with its key are set aside, until `portico events retry`. @default 10 */
  readonly maxFailures?: number;
}

export interface TransactionalOptions<T, DB> extends ConsumeOptions<T> {
  /**
   * The handler runs in a transaction of this database, which must be that of the events, and its position is stored by the same
   * transaction: its writes happen exactly once. It may take 5 seconds.
   */
  readonly transactional: Database<DB>;
}

/** An attempt to handle an event. */
export interface Attempt {
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The number of the event: higher than that of all events before it in its topic. It is the same in each attempt. */
  readonly seq: number;
  /** Aborted when the process shuts down or when another process has taken over. */
  readonly signal: AbortSignal;
}

/** The arguments of `consume`, checked. */
export interface DeclaredConsumer extends Consumer {
  readonly key: (event: unknown) => string;
  readonly maxFailures: number;
  readonly transactional: Database | undefined;
  readonly handler: (event: unknown, attempt: object) => MaybePromise<unknown>;
}

/**
 * Declares a handler that receives every event of a durable topic at least once, in one of the processes that run it: for a mail, a
 * webhook or a search index. Pass it to `app.consume`. It receives the events from its first start on.
 *
 * A rejected promise or an exception is a failure: the event is retried after 0.25 s, then after twice as long each time, for at most
 * 5 minutes. After a crash, events that were handled shortly before may arrive again, except with `transactional`.
 *
 * Throws `ConfigurationError` for a topic without `keep` and for an invalid option.
 *
 * @example
 * ```ts
 * import { PorticoApp, topic } from "portico";
 * import { consume, openDatabase, sqlStores } from "portico/sql";
 *
 * declare function index(id: string, title: string): Promise<void>;
 * const bookChanged = topic<{ id: string; title: string }>("books.changed", { keep: "7d" });
 *
 * const indexBooks = consume(bookChanged, "search-index", { key: ({ id }) => id }, async ({ id, title }) => {
 *   await index(id, title);
 * });
 *
 * new PorticoApp({ stores: sqlStores(openDatabase("postgres://localhost/shop")) }).consume(indexBooks);
 * ```
 */
export function consume<T, DB>(
  topic: Topic<T>,
  name: string,
  options: TransactionalOptions<T, DB>,
  handler: (event: T, attempt: Attempt & { readonly trx: Transaction<DB> }) => MaybePromise<unknown>,
): Consumer;
export function consume<T>(
  topic: Topic<T>,
  name: string,
  options: ConsumeOptions<T>,
  handler: (event: T, attempt: Attempt) => MaybePromise<unknown>,
): Consumer;
export function consume(
  topic: Topic<any>,
  name: string,
  options: ConsumeOptions<any> & Partial<TransactionalOptions<any, any>>,
  handler: (event: any, attempt: any) => MaybePromise<unknown>,
): Consumer {
  if (topic?.keep === undefined) throw notDurable("consume.topic", topic);
  if (typeof name !== "string" || !/^[\w.:-]{1,100}$/.test(name))
    throw new ConfigurationError("consume.name", "1 to 100 letters, digits, and . : - _", name);
  if (typeof handler !== "function") throw new ConfigurationError("consume.handler", "a function", handler);
  const declared: DeclaredConsumer = { topic, name, handler, ...resolveOptions("consume", options, rules) };
  return declared;
}

const rules = {
  key: required(callable),
  maxFailures: optional(integerFrom(1, 100), 10),
  transactional: thing<Database>(
    "a database of openDatabase",
    (value) => typeof (value as Partial<Database> | null)?.begin === "function",
  ),
};
