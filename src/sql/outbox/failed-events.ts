import { sql } from "kysely";
import type { Database } from "../database/database.ts";

/** An event whose handler failed, or that waits behind one with the same key. */
export interface FailedEvent {
  readonly seq: number;
  readonly topic: string;
  readonly key: string;
  readonly text: string;
  readonly failures: number;
}

/** A failed event, as `portico events` shows it. */
export interface ListedEvent extends FailedEvent {
  readonly consumer: string;
  readonly isSetAside: boolean;
  readonly error: string;
}

/** How long an event waits after its first failure, and at most. */
const FIRST_MS = 250;
const MAX_MS = 300_000;

/** The failed events of one consumer. Those with one key are retried in order. */
export class FailedEvents {
  readonly #database: Database;
  readonly #consumer: string;

  constructor(database: Database, consumer: string) {
    this.#database = database;
    this.#consumer = consumer;
  }

  /** Returns the first event of each key that is due. */
  async due(limit: number): Promise<readonly FailedEvent[]> {
    const { rows } = await sql<FailedRow>`
      select seq, topic, key, payload, failures from portico_failed_events as f
      where consumer = ${this.#consumer} and is_set_aside = 0 and retry_ms <= ${now(this.#database)}
        and not exists (select 1 from portico_failed_events as g
          where g.consumer = f.consumer and g.key = f.key and g.seq < f.seq)
      order by seq limit ${sql.lit(limit)}`.execute(this.#database);
    return rows.map(failedEvent);
  }

  /** Returns those of the keys whose later events have to wait, and whether they are set aside. */
  async blocked(keys: readonly string[]): Promise<ReadonlyMap<string, boolean>> {
    if (keys.length === 0) return new Map();
    const { rows } = await sql<{ key: string; aside: number }>`
      select key, max(is_set_aside) as aside from portico_failed_events
      where consumer = ${this.#consumer} and key in (${sql.join(keys)}) group by key`.execute(this.#database);
    return new Map(rows.map(({ key, aside }) => [key, aside === 1]));
  }

  /** Stores an event that failed for the first time, or that waits behind a failed one. */
  async add(connection: Database, event: FailedEvent, error: string, isSetAside: boolean): Promise<void> {
    await sql`
      insert into portico_failed_events (consumer, seq, topic, key, payload, failures, retry_ms, is_set_aside, error)
      values (${this.#consumer}, cast(${event.seq} as bigint), ${event.topic}, ${event.key}, ${event.text}, ${sql.lit(event.failures)},
        ${now(this.#database)} + ${sql.lit(waitMs(event.failures))}, ${sql.lit(isSetAside ? 1 : 0)}, ${error})`.execute(
      connection,
    );
  }

  /** Removes an event that was handled. Returns whether it was still there: if not, another process has handled it. */
  async remove(connection: Database, seq: number): Promise<boolean> {
    const { numAffectedRows } = await sql`
      delete from portico_failed_events where consumer = ${this.#consumer} and seq = cast(${seq} as bigint)`.execute(
      connection,
    );
    return numAffectedRows === 1n;
  }

  /** Records another failure. */
  async failed(event: FailedEvent, error: string): Promise<void> {
    await sql`
      update portico_failed_events set failures = ${sql.lit(event.failures)}, error = ${error},
        retry_ms = ${now(this.#database)} + ${sql.lit(waitMs(event.failures))}
      where consumer = ${this.#consumer} and seq = cast(${event.seq} as bigint)`.execute(this.#database);
  }

  /** Sets the events with a key aside. */
  async setAside(connection: Database, key: string): Promise<void> {
    await sql`
      update portico_failed_events set is_set_aside = 1
      where consumer = ${this.#consumer} and key = ${key}`.execute(connection);
  }
}

/** Lists the failed events of all consumers, the oldest first. */
export async function listFailedEvents(database: Database, limit: number): Promise<readonly ListedEvent[]> {
  const { rows } = await sql<ListedRow>`
    select consumer, seq, topic, key, payload, failures, is_set_aside, error from portico_failed_events
    order by seq, consumer limit ${sql.lit(limit)}`.execute(database);
  return rows.map((row) => ({
    ...failedEvent(row),
    consumer: row.consumer,
    isSetAside: row.is_set_aside === 1,
    error: row.error,
  }));
}

/** Lets a consumer handle its failed events again, those with a key or all, and returns their number. */
export async function retryFailedEvents(database: Database, consumer: string, key: string | null): Promise<number> {
  const { numAffectedRows } = await sql`
    update portico_failed_events set is_set_aside = 0, failures = 0, retry_ms = 0
    where consumer = ${consumer} ${key === null ? sql`` : sql`and key = ${key}`}`.execute(database);
  return Number(numAffectedRows ?? 0);
}

interface FailedRow {
  readonly seq: number | string;
  readonly topic: string;
  readonly key: string;
  readonly payload: string;
  readonly failures: number;
}

interface ListedRow extends FailedRow {
  readonly consumer: string;
  readonly is_set_aside: number;
  readonly error: string;
}

function failedEvent({ seq, topic, key, payload, failures }: FailedRow): FailedEvent {
  return { seq: Number(seq), topic, key, text: payload, failures };
}

/** Events that only wait behind another one have no failures. */
function waitMs(failures: number): number {
  return failures === 0 ? 0 : Math.min(FIRST_MS * 2 ** (failures - 1), MAX_MS);
}

function now({ engine }: Database): ReturnType<typeof sql> {
  return engine === "postgres"
    ? sql`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql`cast(unixepoch('subsec') * 1000 as integer)`;
}
