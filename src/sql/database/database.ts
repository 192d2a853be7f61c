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

/** How a transaction is begun; SQLite knows one way only, the strictest. */
export interface TransactionSettings {
  readonly isolationLevel?: IsolationLevel;
  readonly accessMode?: AccessMode;
}

/**
 * Kysely on a pool, and with `begin()`: what `openDatabase` gives.
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
  /** What it runs on. */
  readonly engine: "postgres" | "sqlite";
  /**
   * A transaction that may span a generator's `yield`; inside another one, a savepoint. Whoever begins it ends it: one that is
   * open when its request or operation is over, dependencies included, is rolled back, and that is a failure. Savepoints of
   * one transaction do not overlap: the second waits until the first has ended.
   */
  begin(settings?: TransactionSettings): Promise<Transaction<DB>>;
  /**
   * What this request or operation reads with: the transaction that it has open, so that it sees what it has written, else
   * the pool. Of a transaction, that transaction.
   */
  current(): Database<DB>;
  /**
   * Returns when the database answers, rejects when it does not within two seconds: for a health check. Rejects as well while a
   * PostgreSQL that has refused a write is read-only.
   */
  ping(): Promise<void>;
}

/**
 * A transaction, or a savepoint inside of one. It is a `Database`: what takes one works inside of a transaction, too.
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
   * Commits on `"success"`, else rolls back; a second call changes nothing. Rejects when the commit fails: then nothing of
   * it was kept.
   */
  end(outcome: "pending" | "success" | "failure"): Promise<void>;
}

/** A statement that was sent: its text, without the values of its parameters, which may be secrets. */
export interface SentStatement {
  readonly sql: string;
  readonly durationMs: number;
}

/** A connection beside the pool that hears what others say. */
export interface Listener {
  /** Resolves when it hears nothing more, with the reason. */
  readonly ended: Promise<unknown>;
  close(): Promise<void>;
  /** The same without a word to the server, which does not answer. */
  cut(): void;
}
/** Opens a listener on a channel. */
export type Listen = (channel: string, onMessage: (text: string) => void) => Promise<Listener>;

export interface PooledDatabaseOptions {
  readonly engine: Database["engine"];
  readonly dialect: Dialect;
  /** Whether a statement was refused because the server is read-only. */
  readonly hasRefusedWrites: () => boolean;
  /** Transactions that may be open at once. */
  readonly maxTransactions: number;
  readonly timeoutMs: number;
  /** SQLite has nothing to listen to. */
  readonly listen: Listen | null;
  readonly onStatement: ((statement: SentStatement) => void) | undefined;
}

/** A health check waits no longer. */
const PING_MS = 2_000;

/**
 * The database itself. Fewer transactions are open at once than there are connections, so a statement on the pool always gets
 * one in the end, also where whoever sends it holds a transaction meanwhile.
 */
export class PooledDatabase<DB> extends Kysely<DB> implements Database<DB> {
  readonly engine: Database["engine"];
  readonly #transactions: Permits;
  readonly #hasRefusedWrites: () => boolean;
  readonly #closing = new AbortController();
  /** Of each request or operation, in the order in which they were begun. */
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
      "The database is busy: no transaction could be begun in time",
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

  /** The transaction, which is the current one of its operation until it ends. */
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
    // A database that is only read may well be a replica.
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
 * A transaction on its way: it waits for its turn, or for a connection. When its request or operation ends first, nothing would end
 * the transaction any more, so it is rolled back as soon as it has begun.
 */
class Beginning {
  /** Called when it has begun, or failed to. */
  readonly forget: () => void;
  #tooLate: Error | null = null;

  constructor(ctx: BaseContext | null) {
    this.forget = ctx === null ? () => {} : endWith(ctx, async () => this.#giveUp(ctx));
  }

  /** What to reject with when the request or operation has ended. */
  get tooLate(): Error | null {
    return this.#tooLate;
  }

  #giveUp({ exchange, pattern }: BaseContext): Error {
    this.#tooLate = new Error(
      `A transaction of ${exchange.method} ${pattern} had not begun when that ended, and is rolled back once it has: await begin()`,
    );
    return this.#tooLate;
  }
}

/** A transaction that nobody ends would keep its connection for ever, without a word: its request or operation ends it. */
function endingWith<DB>(ctx: BaseContext, trx: Transaction<DB>): Transaction<DB> {
  const end = trx.end.bind(trx);
  let undone: Error | undefined;
  const forget = endWith(ctx, async () => {
    undone = new Error(
      `A transaction of ${ctx.exchange.method} ${ctx.pattern} was still open when that was over, and was rolled back: whoever begins one ends it, also when something fails`,
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

/** The statement was sent, whatever its listener makes of it: what that throws is a warning of the process. */
function statementLog(onStatement: NonNullable<PooledDatabaseOptions["onStatement"]>): Logger {
  return ({ query, queryDurationMillis }) => {
    try {
      onStatement({ sql: query.sql, durationMs: queryDurationMillis });
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  };
}

/** Does something with a permit. */
type Hold = (work: () => Promise<unknown>) => Promise<unknown>;

/** The builder, whose `execute` waits for a permit; so do the builders that its other methods give. */
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
