import { type ControlledTransaction, Kysely, sql } from "kysely";
import { unavailable } from "../../../core/unavailable.ts";
import { inBackground } from "../../../core/work/in-background.ts";
import { currentContext } from "../../../kernel/context/current-context.ts";
import type { BaseContext } from "../../../kernel/context/http-context.ts";
import type { EventHold } from "../../../kernel/events/event-hold.ts";
import { endWith } from "../../../kernel/leaks/end-left-open.ts";
import { asPortico } from "../../guard/acting-handles.ts";
import { checkGuard } from "../../guard/guarded-dialect.ts";
import { afterCommit, contained } from "../after-commit.ts";
import type { Database, Listen, Transaction, TransactionSettings } from "../database.ts";
import { bareOf, keepingPlugins } from "../keeping-plugins.ts";
import { eventsOf, holdingEvents, openTransaction, statementsOn } from "../open-transaction.ts";
import { Permits, type Release } from "../permits.ts";
import type { PoolPart } from "../pool-part.ts";
import { probeWrites } from "../probe-writes.ts";
import type { Replicas } from "../replicas/open-replicas.ts";
import type { ReplicaSet } from "../replicas/replica-set.ts";
import { withDeadline } from "../with-deadline.ts";

export interface PoolOptions {
  readonly engine: Database["engine"];
  readonly part: PoolPart;
  /** Whether a statement was rejected because the server is read-only. */
  readonly hasRefusedWrites: () => boolean;
  /** The maximum number of open transactions. */
  readonly maxTransactions: number;
  readonly timeoutMs: number;
  /** `null` for SQLite, which has no notifications. */
  readonly listen: Listen | null;
  readonly replicas: Replicas | null;
  /** Whether `destroy` closes the connections. */
  readonly isOwner: boolean;
}

/** The time limit of a health check. */
const PING_MS = 2_000;

const pools = new WeakMap<object, Pool>();

/** Returns the pool of a database, or `undefined` for a transaction. */
export function poolOf(database: Database): Pick<Pool, "closing" | "listen" | "replicas" | "probe"> | undefined {
  return pools.get(bareOf(database));
}

/** Adds the methods of `Database` to a Kysely instance without plugins, which must not be in use elsewhere. */
export function pooledDatabase<DB>(kysely: Kysely<DB>, options: PoolOptions): Database<DB> {
  const pool: Pool = new Pool(kysely, options);
  const bounded = (copy: Kysely<DB>): object => ({
    transaction: () =>
      withPermit(Kysely.prototype.transaction.call(copy), (run, work) =>
        pool.hold(() =>
          holdingEvents((write) =>
            run(async (trx) => {
              const result = await work(trx);
              await write(statementsOn(trx));
              return result;
            }),
          ),
        ),
      ),
    connection: () => withPermit(Kysely.prototype.connection.call(copy), (run, work) => pool.hold(() => run(work))),
    destroy: () => pool.destroy(),
  });
  const destroy = kysely.destroy.bind(kysely);
  pool.close = options.isOwner ? destroy : async () => {};
  const database: Database<DB> = Object.assign(kysely, {
    engine: options.engine,
    begin: (settings?: TransactionSettings) => pool.begin(settings) as Promise<Transaction<DB>>,
    current: (): Database<DB> => (pool.current() as Database<DB> | undefined) ?? database,
    replica: (): object => options.replicas?.reader ?? database,
    afterCommit: (work: () => unknown): void => inBackground(afterCommit(database.current(), contained(work))),
    ping: () => pool.ping(),
    check: () => checkGuard(kysely),
    ...bounded(kysely),
  }) as Database<DB>;
  pools.set(database, pool);
  return keepingPlugins(database, bounded);
}

/**
 * The connections of a database. It allows fewer open transactions than connections, so a statement on the pool
 * eventually gets a connection even if its caller holds a transaction.
 */
class Pool {
  readonly listen: Listen | null;
  /** `null` without replicas. */
  readonly replicas: ReplicaSet | null;
  /** Closes the connections. */
  close: () => Promise<void> = async () => {};
  readonly #kysely: Kysely<any>;
  readonly #options: PoolOptions;
  readonly #transactions: Permits;
  readonly #closing = new AbortController();
  /** The open transactions of each request or operation, in the order in which they started. */
  readonly #open = new WeakMap<BaseContext, readonly Transaction[]>();

  constructor(kysely: Kysely<any>, options: PoolOptions) {
    this.#kysely = kysely;
    this.#options = options;
    this.listen = options.listen;
    this.replicas = options.replicas?.set ?? null;
    this.#transactions = new Permits(
      options.maxTransactions,
      options.timeoutMs,
      "The database is busy: could not start a transaction in time",
    );
    options.part.transactions = this.#transactions;
    options.part.probe = () => this.probe();
  }

  /** Writes without a change. Rejects if the database accepts no writes. */
  probe(): Promise<void> {
    return withDeadline(PING_MS, () => probeWrites(asPortico(this.#kysely), this.#options.engine));
  }

  /** Aborted when the database is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  hold<T>(work: () => Promise<T>): Promise<T> {
    this.#options.part.join();
    return this.#transactions.hold(work);
  }

  async begin(settings: TransactionSettings = {}): Promise<Transaction> {
    const events = eventsOf(null);
    const beginning = new Beginning(currentContext());
    let release: Release | undefined;
    this.#options.part.join();
    try {
      release = await this.#transactions.acquire();
      let builder = this.#kysely.startTransaction();
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

  current(): Transaction | undefined {
    const ctx = currentContext();
    return ctx === null ? undefined : this.#open.get(ctx)?.at(-1);
  }

  /** Makes the transaction the current one of its operation until it ends. */
  #entered(inner: ControlledTransaction<any>, events: EventHold | null, release: Release): Transaction {
    const { engine } = this.#options;
    const ctx = currentContext();
    if (ctx === null) return openTransaction(inner, engine, events, release);
    const openOnes = (): readonly Transaction[] => this.#open.get(ctx) ?? [];
    const trx = openTransaction(inner, engine, events, () => {
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
    await withDeadline(PING_MS, () => this.#kysely.selectNoFrom((eb) => eb.lit(1).as("one")).execute());
    // A database that is only read may well be a replica, so only a rejected write counts.
    if (!this.#options.hasRefusedWrites()) return;
    const setting = sql<{ isOn: boolean }>`select current_setting('transaction_read_only') = 'on' as "isOn"`;
    const { rows } = await withDeadline(PING_MS, () => setting.execute(asPortico(this.#kysely)));
    if (rows[0]?.isOn === true) throw unavailable("The database is read-only");
  }

  async destroy(): Promise<void> {
    this.#closing.abort();
    this.#options.part.isClosed = true;
    await Promise.all([this.replicas?.close(), this.close()]);
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

/** The function that an application passes to `execute`. */
type Work = (connection: Kysely<any>) => Promise<unknown>;
/** Calls `run`, which is `execute`, with a permit. */
type Hold = (run: (work: Work) => Promise<unknown>, work: Work) => Promise<unknown>;

/** Wraps the builder so that `execute` waits for a permit, as do the builders that its other methods return. */
function withPermit<B extends object>(builder: B, hold: Hold): B {
  return new Proxy(builder, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== "function") return value;
      const call = (args: unknown[]): unknown => Reflect.apply(value, target, args);
      return property === "execute"
        ? (work: Work) => hold(async (given) => call([given]), work)
        : (...args: unknown[]) => withPermit(call(args) as object, hold);
    },
  });
}
