import { type ControlledTransaction, type Kysely, type KyselyPlugin, sql } from "kysely";
import { currentContext } from "../../kernel/context/current-context.ts";
import { type EventHold, holdEvents } from "../../kernel/events/event-hold.ts";
import type { RunStatement } from "../../stores/outbox.ts";
import { asPortico } from "../guard/acting-handles.ts";
import { checkGuard } from "../guard/guarded-dialect.ts";
import { CommitWork, contained } from "./after-commit.ts";
import type { Database, Transaction } from "./database.ts";
import { keepingPlugins } from "./keeping-plugins.ts";
import { Permits, type Release } from "./permits.ts";
import { runNamed } from "./run-named.ts";

type Engine = Database["engine"];

/** The steps at the end of a transaction or savepoint. */
interface Ending {
  commit(): Promise<unknown>;
  rollback(): Promise<unknown>;
  /** Runs after either of them, even if it failed. */
  readonly release: Release;
  /** Set for a savepoint. */
  readonly use?: SavepointUse;
}

/** How long a savepoint waits for the previous one. */
const TIMEOUT_MS = 60_000;

/** Wraps Kysely's transaction in one that ends by an outcome and has such savepoints. */
export function openTransaction<DB>(
  inner: ControlledTransaction<DB>,
  engine: Engine,
  events: EventHold | null,
  release: Release,
): Transaction<DB> {
  return withEnding(inner, engine, events, new CommitWork(null), {
    commit: async () => {
      try {
        await events?.write(statementsOn(inner));
        await inner.commit().execute();
      } catch (error) {
        // After a failed commit we still hold the connection, so it is rolled back. The first error is the one to
        // report.
        if (!inner.isRolledBack)
          await inner
            .rollback()
            .execute()
            .catch(() => {});
        throw error;
      }
    },
    rollback: () => inner.rollback().execute(),
    release,
  });
}

/** Delays the events that the request publishes while the transaction is open. Returns `null` outside a request. */
export function eventsOf(outer: EventHold | null): EventHold | null {
  const ctx = currentContext();
  return ctx === null ? null : holdEvents(ctx, outer);
}

/** Runs statements of Portico in the transaction of a Kysely instance. A guarded one applies no rule of the application to them. */
export function statementsOn(connection: Kysely<any>): RunStatement {
  return async (text, parameters) => {
    const [first = "", ...rest] = text.split(/\$\d+|\?/);
    const values = rest.map((part, at) => sql`${parameters[at]}${sql.raw(part)}`);
    const statement = sql`${sql.raw(first)}${sql.join(values, sql``)}`;
    return (await runNamed(asPortico(connection) as Database, statement)).rows.length;
  };
}

/**
 * Delays events for a transaction that a library runs from start to end.
 *
 * @param work receives the function that writes the events of durable topics, to be called before the commit
 */
export async function holdingEvents<T>(work: (write: (run: RunStatement) => Promise<void>) => Promise<T>): Promise<T> {
  const events = eventsOf(null);
  events?.open();
  try {
    const result = await work(async (run) => events?.write(run));
    await events?.end(true);
    return result;
  } catch (error) {
    await events?.end(false);
    throw error;
  }
}

async function openSavepoint<DB>(
  parent: ControlledTransaction<DB, any>,
  engine: Engine,
  events: EventHold | null,
  after: CommitWork,
  release: Release,
): Promise<Transaction<DB>> {
  const name = `portico_${++savepoints}`;
  const use = new SavepointUse();
  const inner = use.guard<DB>(await parent.savepoint(name as never).execute());
  const rollback = async (): Promise<void> => {
    await inner.rollbackToSavepoint(name).execute();
    await inner.releaseSavepoint(name).execute();
  };
  const commit = async (): Promise<void> => {
    try {
      await inner.releaseSavepoint(name).execute();
    } catch (error) {
      // PostgreSQL rejects statements after an error inside the savepoint, but the work before it is still valid.
      await rollback().catch(() => {});
      throw error;
    }
  };
  return withEnding(inner, engine, events, after, { commit, rollback, release, use });
}

/**
 * Rejects the statements of a savepoint that has ended. To Kysely, the transaction is still open, so a late statement,
 * such as that of a parallel branch after another one failed, would be committed with it.
 */
class SavepointUse {
  #isOver = false;

  guard<DB>(savepoint: ControlledTransaction<DB, any>): ControlledTransaction<DB, any> {
    const plugin: KyselyPlugin = {
      transformQuery: ({ node }) => {
        this.check();
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const guarded = savepoint.withPlugin(plugin);
    this.guardCompiled(guarded);
    return guarded;
  }

  /** A compiled query does not pass through plugins. */
  guardCompiled(kysely: Kysely<any>): void {
    const execute = kysely.executeQuery.bind(kysely);
    kysely.executeQuery = async (...args) => {
      this.check();
      return execute(...args);
    };
  }

  check(): void {
    if (this.#isOver) throw new Error("The savepoint has already ended: use the transaction around it");
  }

  end(): void {
    this.#isOver = true;
  }
}

let savepoints = 0;

function withEnding<DB>(
  inner: ControlledTransaction<DB, any>,
  engine: Engine,
  events: EventHold | null,
  after: CommitWork,
  ending: Ending,
): Transaction<DB> {
  // Savepoints nest and must not overlap, so the second one of a transaction waits for the first.
  const turn = new Permits(
    1,
    TIMEOUT_MS,
    "A savepoint timed out waiting for another savepoint of the same transaction",
  );
  let ended: Promise<void> | null = null;
  events?.open();
  after.keepFor(inner);
  const end = async (outcome: Parameters<Transaction["end"]>[0]): Promise<void> => {
    let isCommitted = false;
    ending.use?.end();
    try {
      await (outcome === "success" ? ending.commit() : ending.rollback());
      isCommitted = outcome === "success";
    } finally {
      ending.release();
      if (isCommitted) await after.run();
      await events?.end(isCommitted);
    }
  };
  const begin = async (): Promise<Transaction<DB>> => {
    ending.use?.check();
    const within = eventsOf(events);
    let release: Release | undefined;
    try {
      release = await turn.acquire();
      ending.use?.check();
      return await openSavepoint(inner, engine, within, new CommitWork(after), release);
    } catch (error) {
      release?.();
      await within?.end(false);
      throw error;
    }
  };
  const transaction: Transaction<DB> = Object.assign(inner, {
    engine,
    begin,
    current: (): Database<DB> => transaction,
    replica: (): object => transaction,
    afterCommit: (work: () => unknown): void => after.add(contained(work)),
    end: (outcome: Parameters<Transaction["end"]>[0]): Promise<void> => (ended ??= end(outcome)),
    check: () => checkGuard(inner),
    ping: async (): Promise<void> => void (await inner.selectNoFrom((eb) => eb.lit(1).as("one")).execute()),
  }) as unknown as Transaction<DB>;
  return keepingPlugins(transaction, (copy) => {
    ending.use?.guardCompiled(copy);
    return { end: (outcome: Parameters<Transaction["end"]>[0]): Promise<void> => transaction.end(outcome) };
  });
}
