import { sql } from "kysely";
import { failpoint } from "../../core/work/failpoint.ts";
import type { Database } from "../database/database.ts";

/** A position of the sequence, and a transaction that began after it was read. */
interface Sample {
  readonly seq: number;
  readonly xid: bigint;
  readonly at: number;
}

/** More samples than this would make no event arrive earlier. */
const MAX_SAMPLES = 64;
const LOOK_AGAIN_MS = 10;

/**
 * Finds the position up to which no event can appear any more: all transactions that took a lower number have ended.
 *
 * A transaction has its number before it reads the sequence. So if a sample reads the sequence first and takes a transaction number
 * afterwards, every event up to the sample belongs to a transaction with a lower number. Once the oldest open transaction
 * is above the number, all of them have ended. Reading by the sequence alone would skip those that commit late.
 */
export class SettledReader {
  readonly #database: Database;
  readonly #samples: Sample[] = [];
  #settled = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The last settled position. */
  get settled(): number {
    return this.#settled;
  }

  /** How long the oldest sample has been waiting for a transaction to end, in milliseconds. */
  get waitingMs(): number {
    const [oldest] = this.#samples;
    return oldest === undefined ? 0 : performance.now() - oldest.at;
  }

  /** Waits until everything that is written now has settled, at most for a time, and returns the settled position. */
  async present(ms: number): Promise<number> {
    const end = performance.now() + ms;
    let isWaiting = await this.look();
    const goal = this.#samples.at(-1)?.seq ?? 0;
    while (isWaiting && this.#settled < goal && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
      isWaiting = await this.look();
    }
    return this.#settled;
  }

  /** Looks once. Returns whether it has to look again, because transactions are still open. */
  async look(): Promise<boolean> {
    if (this.#database.engine === "sqlite") {
      // One transaction writes at a time, so events are committed in their order.
      const query = sql<{ seq: number }>`select coalesce(max(seq), 0) as seq from portico_events`;
      this.#settled = Math.max(this.#settled, Number((await query.execute(this.#database)).rows[0]?.seq));
      return false;
    }
    const seq = await this.#settle();
    if (seq > (this.#samples.at(-1)?.seq ?? this.#settled) && this.#samples.length < MAX_SAMPLES) {
      const { rows } = await sql<{ xid: string }>`select pg_current_xact_id()::text as xid`.execute(this.#database);
      this.#samples.push({ seq, xid: BigInt(rows[0]?.xid ?? 0), at: performance.now() });
      failpoint("relay-sampled");
      await this.#settle();
    }
    return this.#samples.length > 0;
  }

  /** Settles samples, and returns the current position of the sequence. */
  async #settle(): Promise<number> {
    const { rows } = await sql<{ xmin: string; seq: number | string }>`
      select pg_snapshot_xmin(pg_current_snapshot())::text as xmin,
        (select case when is_called then last_value else 0 end from portico_events_seq) as seq`.execute(this.#database);
    const xmin = BigInt(rows[0]?.xmin ?? 0);
    for (let first = this.#samples[0]; first !== undefined && first.xid < xmin; first = this.#samples[0]) {
      this.#settled = Math.max(this.#settled, first.seq);
      this.#samples.shift();
    }
    return Number(rows[0]?.seq ?? 0);
  }
}

/** A write transaction that is open somewhere in the cluster, and delays the events of all databases. */
export interface OpenWrite {
  readonly seconds: number;
  /** The process id on the server, the database and the name of the application. */
  readonly where: string;
}

/** Returns the oldest open write transaction of the cluster, also of another database; `null` if there is none. */
export async function oldestWrite(database: Database): Promise<OpenWrite | null> {
  if (database.engine === "sqlite") return null;
  const { rows } = await sql<{ seconds: number; place: string }>`
    select extract(epoch from clock_timestamp() - coalesce(xact_start, query_start, clock_timestamp()))::float8 as seconds,
      format('process %s of database %s%s', pid, coalesce(datname, '?'),
        case when coalesce(application_name, '') = '' then '' else format(' (%s)', application_name) end) as place
    from pg_stat_activity where backend_xid is not null and pid <> pg_backend_pid()
    union all
    select extract(epoch from clock_timestamp() - prepared)::float8, format('the prepared transaction %s of database %s', gid, database)
    from pg_prepared_xacts
    order by 1 desc limit 1`.execute(database);
  const [first] = rows;
  return first === undefined ? null : { seconds: first.seconds, where: first.place };
}
