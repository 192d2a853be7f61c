import { setTimeout as sleep } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import type { Database } from "../database/database.ts";

/** The connection of a run of migrations, during which no other process migrates. */
export interface MigrationSession {
  /** Runs work in a transaction. */
  inTransaction(work: (trx: Kysely<any>) => Promise<void>): Promise<void>;
  /** The connection outside a transaction, or the transaction if the lock is held by one. */
  readonly connection: Kysely<any>;
}

type Work<T> = (session: MigrationSession) => Promise<T>;

// "portic" in ASCII, as a lock number that other programs are unlikely to use.
const LOCK = sql.lit(0x70_6f_72_74_69_63);
/** How often a process that waits asks for the lock. */
const RETRY_MS = 200;

/**
 * Does the work in one transaction, which holds the lock until its end. A process that waits asks again and again in a
 * new transaction: `create index concurrently` waits for the end of all open transactions, also of one that waits for
 * the lock.
 */
export async function inLockedTransaction<T>(database: Database, work: Work<T>): Promise<T> {
  for (;;) {
    const trx = await database.begin();
    try {
      if (database.engine === "sqlite" || (await isGranted(trx, sql`pg_try_advisory_xact_lock(${LOCK})`))) {
        // The statements wait for tables as long as it takes.
        if (database.engine === "postgres") await sql`set local lock_timeout = 0`.execute(trx);
        const result = await work({ connection: trx, inTransaction: (part) => part(trx) });
        await trx.end("success");
        return result;
      }
    } finally {
      await trx.end("failure");
    }
    await sleep(RETRY_MS);
  }
}

/** Does the work on one connection, which holds the lock, in as many transactions as it needs. SQLite has no such lock. */
export async function onLockedConnection<T>(database: Database, work: Work<T>): Promise<T> {
  return database.connection().execute(async (connection) => {
    const session: MigrationSession = {
      connection,
      inTransaction: (part) => connection.transaction().execute(part),
    };
    if (database.engine === "sqlite") return work(session);
    while (!(await isGranted(connection, sql`pg_try_advisory_lock(${LOCK})`))) await sleep(RETRY_MS);
    const { rows } = await sql<{ ms: string }>`select current_setting('lock_timeout') as ms`.execute(connection);
    try {
      await sql`select set_config('lock_timeout', '0', false)`.execute(connection);
      return await work(session);
    } finally {
      await sql`select set_config('lock_timeout', ${rows[0]?.ms}, false), pg_advisory_unlock(${LOCK})`.execute(
        connection,
      );
    }
  });
}

async function isGranted(connection: Kysely<any>, request: ReturnType<typeof sql>): Promise<boolean> {
  const { rows } = await sql<{ granted: boolean }>`select ${request} as granted`.execute(connection);
  return rows[0]?.granted === true;
}
