import {
  type AccessMode,
  type ConnectionBuilder,
  type ControlledTransaction,
  type Dialect,
  type IsolationLevel,
  Kysely,
  type Logger,
  sql,
  type TransactionBuilder,
} from "kysely";
import { unavailable } from "../../core/unavailable.ts";
import { currentContext } from "../../http/context/current-context.ts";
import { endWith } from "../../http/context/end-left-open.ts";
import type { EventHold } from "../../http/context/event-hold.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import { eventsOf, holdingEvents, openTransaction } from "./open-transaction.ts";
import { Permits, type Release } from "./permits.ts";
import { withDeadline } from "./with-deadline.ts";

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
   * For health checks: resolves if the database responds within two seconds, and rejects otherwise. It also rejects
   * while a PostgreSQL server that rejected a write is read-only.
   */
  ping(): Promise<void>;
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
}

/** An executed statement: its text without the values of its parameters, which may be secrets. */
export interface SentStatement {
  readonly sql: string;
  readonly durationMs: number;
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

export interface PooledDatabaseOptions {
  readonly engine: Database["engine"];
  readonly dialect: Dialect;
  /** Whether a statement was rejected because the server is read-only. */
  readonly hasRefusedWrites: () => boolean;
  /** The maximum number of open transactions. */
  readonly maxTransactions: number;
  readonly timeoutMs: number;
  /** `null` for SQLite, which has no notifications. */
  readonly listen: Listen | null;
  readonly onStatement: ((statement: SentStatement) => void) | undefined;
}

/** The time limit of a health check. */
const PING_MS = 2_000;

/**
 * The database itself. It allows fewer open transactions than connections, so a statement on the pool eventually gets a
 * connection even if its caller holds a transaction.
 */
export class PooledDatabase<DB> extends Kysely<DB> implements Database<DB> {
  readonly engine: Database["engine"];
  readonly #transactions: Permits;
  readonly #hasRefusedWrites: () => boolean;
  readonly #closing = new AbortController();
  /** The open transactions of each request or operation, in the order in which they started. */
  readonly #open = new WeakMap<BaseContext, readonly Transaction<DB>[]>();
  /** @internal */
  readonly listen: Listen | null;

  constructor(options: PooledDatabaseOptions) {
    const { engine, dialect, maxTransactions, timeoutMs, listen, onStatement, hasRefusedWrites } = options;
    super({ dialect, ...(onStatement === undefined ? {} : { log: statementLog(onStatement) }) });
    this.engine = engine;
    this.listen = listen;
    this.#hasRefusedWrites = hasRefusedWrites;
    this.#transactions = new Permits(
      maxTransactions,
      timeoutMs,
      "The database is busy: could not start a transaction in time",
    );
  }

  /** @internal Aborted when the database is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  async begin(settings: TransactionSettings = {}): Promise<Transaction<DB>> {
    const events = eventsOf(null);
    const beginning = new Beginning(currentContext());
    let release: Release | undefined;
    try {
      release = await this.#transactions.acquire();
      let builder = this.startTransaction();
      if (settings.isolationLevel !== undefined) builder = builder.setIsolationLevel(settings.isolationLevel);
      if (settings.accessMode !== undefined) builder = builder.setAccessMode(settings.accessMode);
      const inner = await builder.execute();
      if (beginning.tooLate !== null) {
        await inner.rollback().execute();
        throw beginning.tooLate;
      }
      beginning.forget();
      return this.#entered(inner, events, release);
    } catch (error) {
      beginning.forget();
      release?.();
      await events?.end(false);
      throw error;
    }
  }

  current(): Database<DB> {
    const ctx = currentContext();
    return (ctx === null ? undefined : this.#open.get(ctx)?.at(-1)) ?? this;
  }

  /** Makes the transaction the current one of its operation until it ends. */
  #entered(inner: ControlledTransaction<DB>, events: EventHold | null, release: Release): Transaction<DB> {
    const ctx = currentContext();
    if (ctx === null) return openTransaction(inner, this.engine, events, release);
    const openOnes = (): readonly Transaction<DB>[] => this.#open.get(ctx) ?? [];
    const trx = openTransaction(inner, this.engine, events, () => {
      release();
      this.#open.set(
        ctx,
        openOnes().filter((other) => other !== trx),
      );
    });
    this.#open.set(ctx, [...openOnes(), trx]);
    return endingWith(ctx, trx);
  }

  async ping(): Promise<void> {
    await withDeadline(PING_MS, () => this.selectNoFrom((eb) => eb.lit(1).as("one")).execute());
    // A database that is only read may well be a replica, so only a rejected write counts.
    if (!this.#hasRefusedWrites()) return;
    const setting = sql<{ isOn: boolean }>`select current_setting('transaction_read_only') = 'on' as "isOn"`;
    const { rows } = await withDeadline(PING_MS, () => setting.execute(this));
    if (rows[0]?.isOn === true) throw unavailable("The database is read-only");
  }

  override transaction(): TransactionBuilder<DB> {
    return withPermit(super.transaction(), (work) => this.#transactions.hold(() => holdingEvents(work)));
  }

  override connection(): ConnectionBuilder<DB> {
    return withPermit(super.connection(), (work) => this.#transactions.hold(work));
  }

  override async destroy(): Promise<void> {
    this.#closing.abort();
    await super.destroy();
  }
}

/**
 * A transaction that waits for its turn or for a connection. If its request or operation ends first, no code would end
 * the transaction, so it is rolled back as soon as it starts.
 */
class Beginning {
  /** Called when it has started or failed to start. */
  readonly forget: () => void;
  #tooLate: Error | null = null;

  constructor(ctx: BaseContext | null) {
    this.forget = ctx === null ? () => {} : endWith(ctx, async () => this.#giveUp(ctx));
  }

  /** Returns the error to reject with if the request or operation has ended. */
  get tooLate(): Error | null {
    return this.#tooLate;
  }

  #giveUp({ exchange, pattern }: BaseContext): Error {
    this.#tooLate = new Error(
      `A transaction of ${exchange.method} ${pattern} had not started when the request ended, so it will be rolled back: await begin()`,
    );
    return this.#tooLate;
  }
}

/**
 * A transaction that is never ended would hold its connection without a warning, so its request or operation ends it.
 */
function endingWith<DB>(ctx: BaseContext, trx: Transaction<DB>): Transaction<DB> {
  const end = trx.end.bind(trx);
  let undone: Error | undefined;
  const forget = endWith(ctx, async () => {
    undone = new Error(
      `A transaction of ${ctx.exchange.method} ${ctx.pattern} was still open when the request ended, and was rolled back: commit it or roll it back, also when an error is thrown`,
    );
    await end("failure").catch((cause: unknown) => Object.assign(undone as Error, { cause }));
    return undone;
  });
  return Object.assign(trx, {
    end: async (outcome: Parameters<Transaction["end"]>[0]): Promise<void> => {
      forget();
      await end(outcome);
      if (outcome === "success" && undone !== undefined) throw undone;
    },
  });
}

/** An exception in the listener becomes a process warning, because the statement was already sent. */
function statementLog(onStatement: NonNullable<PooledDatabaseOptions["onStatement"]>): Logger {
  return ({ query, queryDurationMillis }) => {
    try {
      onStatement({ sql: query.sql, durationMs: queryDurationMillis });
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  };
}

/** Runs work with a permit. */
type Hold = (work: () => Promise<unknown>) => Promise<unknown>;

/** Wraps the builder so that `execute` waits for a permit, as do the builders that its other methods return. */
function withPermit<B extends object>(builder: B, hold: Hold): B {
  return new Proxy(builder, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== "function") return value;
      const call = (args: unknown[]): unknown => Reflect.apply(value, target, args);
      return property === "execute"
        ? (...args: unknown[]) => hold(async () => call(args))
        : (...args: unknown[]) => withPermit(call(args) as object, hold);
    },
  });
}
