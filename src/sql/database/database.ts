import type { AccessMode, IsolationLevel, Kysely, KyselyPlugin } from "kysely";
import type { ReadonlyKysely } from "kysely/readonly";
import type { Caller } from "../../kernel/identity/identity.ts";

/** How a transaction starts. SQLite has only one isolation level, the strictest. */
export interface TransactionSettings {
  readonly isolationLevel?: IsolationLevel;
  readonly accessMode?: AccessMode;
}

/**
 * Kysely on a pool, with `begin()`. This is the result of `openDatabase`.
 *
 * @example
 * ```ts
 * import type { Database, PorticoTables } from "portico/sql";
 *
 * async function userCount(database: Database<PorticoTables>): Promise<number> {
 *   const { count } = await database
 *     .selectFrom("users")
 *     .select(({ fn }) => fn.countAll().as("count"))
 *     .executeTakeFirstOrThrow();
 *   return Number(count);
 * }
 * ```
 */
export interface Database<DB = any> extends Kysely<DB> {
  /** The engine of the database. */
  readonly engine: "postgres" | "sqlite";
  /**
   * Starts a transaction that may span a generator's `yield`, or a savepoint inside another transaction. The caller
   * must end it. If it is still open when its request or operation has ended, including its dependencies, it is rolled
   * back, and the request fails. Savepoints of one transaction do not overlap: the second one waits until the first has
   * ended.
   */
  begin(settings?: TransactionSettings): Promise<Transaction<DB>>;
  /**
   * Returns the open transaction of this request or operation, so that reads see its own writes, or the pool if there
   * is none. For a transaction, it returns that transaction.
   */
  current(): Database<DB>;
  /**
   * Returns a query builder whose reads may come from a replica, for lists and loaders. A request reads from a replica that has
   * everything its caller has written, in any process. Otherwise, and outside a request, after a write in the same request, and
   * in code that follows events, it reads from the primary. Without replicas, it is the database itself. For a transaction,
   * it returns that transaction.
   */
  replica(): Pick<ReadonlyKysely<DB>, "selectFrom" | "selectNoFrom" | "with" | "withRecursive" | "withSchema">;
  /**
   * Runs work once this transaction is committed, and not at all if it is rolled back, for example to send a mail. On the pool,
   * it is the current transaction, and without one the work runs at once. `end` waits for the work, which can no longer undo
   * anything: an error is logged.
   */
  afterCommit(work: () => unknown): void;
  /**
   * For health checks: resolves if the database responds within two seconds, and rejects otherwise. It also rejects
   * while a PostgreSQL server that rejected a write is read-only.
   */
  ping(): Promise<void>;
  /**
   * Returns a copy that acts as a user, for a job on the user's behalf. Only for a database with `guard`.
   *
   * @example
   * ```ts
   * import type { Caller } from "portico";
   * import type { Database } from "portico/sql";
   *
   * function ordersOf(database: Database<{ orders: { id: string } }>, user: Caller) {
   *   return database.as(user).selectFrom("orders").selectAll().execute();
   * }
   * ```
   */
  as(user: Caller): Database<DB>;
  /**
   * Returns a copy without rules, for work that has no caller. Only for a database with `guard`.
   *
   * @param reason why no rule applies; the access table prints it
   */
  asSystem(reason: string): Database<DB>;
  /**
   * Compares the option `guard` with the catalogue: a table that it does not name, a rule that compares a column which ignores
   * case, or with `policies` a table whose policies are not those of its rules, throws `ConfigurationError`. The first statement does the same. Call it in `app.onStart` to find a mistake before
   * the first request. Without a guard, it does nothing.
   */
  check(): Promise<void>;
  /** Returns a copy with a plugin, such as Kysely's `CamelCasePlugin`, which its transactions have too. */
  withPlugin(plugin: KyselyPlugin): Database<DB>;
  /** Returns the database that the plugins were added to. A copy of `as` or `asSystem` remains one. */
  withoutPlugins(): Database<DB>;
}

/**
 * A transaction, or a savepoint inside one. It is a `Database`, so code that takes a `Database` also works inside a
 * transaction.
 *
 * @example
 * ```ts
 * import { provide } from "portico";
 * import { openDatabase } from "portico/sql";
 *
 * const database = openDatabase("sqlite::memory:");
 *
 * export const unitOfWork = provide(async function* ({ ctx }) {
 *   const trx = await database.begin();
 *   try {
 *     yield trx;
 *   } finally {
 *     await trx.end(ctx.outcome);
 *   }
 * });
 * ```
 */
export interface Transaction<DB = any> extends Database<DB> {
  /**
   * Commits on `"success"`, and rolls back otherwise. A second call has no effect. Rejects if the commit fails; then
   * nothing was saved.
   */
  end(outcome: "pending" | "success" | "failure"): Promise<void>;
  as(user: Caller): Transaction<DB>;
  asSystem(reason: string): Transaction<DB>;
  withPlugin(plugin: KyselyPlugin): Transaction<DB>;
  withoutPlugins(): Transaction<DB>;
}

/** An executed statement: its text without the values of its parameters, which may be secrets. */
export interface SentStatement {
  readonly sql: string;
  readonly durationSeconds: number;
}

/** A connection outside the pool that receives notifications. */
export interface Listener {
  /** Resolves with the reason when it no longer receives anything. */
  readonly ended: Promise<unknown>;
  close(): Promise<void>;
  /** Closes the connection without notifying the server, which does not respond. */
  cut(): void;
}
/** Opens a listener on a channel. */
export type Listen = (channel: string, onMessage: (text: string) => void) => Promise<Listener>;
