import { type RawBuilder, sql } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { isInstance } from "../../core/describe-error.ts";
import { readJson } from "../../core/read-json.ts";
import type { EventPlace, NewEvent, RunStatement } from "../../stores/outbox.ts";
import type { Keep } from "../../stores/pub-sub.ts";
import type { Database } from "../database/database.ts";
import { statementsOn } from "../database/open-transaction.ts";
import { runNamed } from "../database/run-named.ts";
import { asPortico } from "../guard/acting-handles.ts";
import { keptFor, SLOTS } from "../migrations/create-outbox.ts";

/** An event in the table. */
export interface StoredEvent {
  readonly seq: number;
  readonly topic: string;
  readonly text: string;
}

/** A durable topic. */
export interface KeptTopic {
  readonly name: string;
  readonly keep: Keep;
}

/** The state of the events in a database. */
export interface Present extends EventPlace {
  readonly floors: Readonly<Partial<Record<Keep, number>>>;
}

interface PresentRow {
  readonly timeline: string;
  readonly seq: number | string;
  readonly floors: unknown;
}

/** The server doesn't have the functions for it, or the role may not call them. */
const NO_TIMELINE: readonly string[] = ["42501", "42883", "0A000"];

/** The events of durable topics in a database. */
export class EventTable {
  readonly #database: Database;
  #id: string | null = null;
  /** Whether the server lets the application read its timeline. Some services don't. */
  #hasTimeline = true;

  constructor(database: Database) {
    this.#database = database;
  }

  get database(): Database {
    return this.#database;
  }

  /** Tells this outbox from that of any other database. */
  async id(): Promise<string> {
    if (this.#id !== null) return this.#id;
    const { rows } = await sql<{ id: string }>`select id from portico_outbox`
      .execute(this.#database)
      .catch((cause: unknown) => {
        if (!isMissingTable(cause)) throw cause;
        throw new ConfigurationError("outbox.database", "has no tables for durable topics: run portico migrate up");
      });
    this.#id = String(rows[0]?.id);
    return this.#id;
  }

  /** The last number, the history that it belongs to, and the last position of each `keep` that is no longer complete. */
  async present(): Promise<Present> {
    const id = await this.id();
    const { rows } = await runNamed(this.#database, this.#presentQuery(this.#hasTimeline)).catch((error: unknown) => {
      if (!this.#hasTimeline || !NO_TIMELINE.includes(String((error as { readonly code?: unknown }).code))) throw error;
      this.#hasTimeline = false;
      return runNamed(this.#database, this.#presentQuery(false));
    });
    const { timeline = "", seq = 0, floors = null } = rows[0] ?? {};
    const known = (typeof floors === "string" ? readJson(floors).value : floors) as Present["floors"] | null;
    return { epoch: `${id}:${timeline}`, seq: Number(seq), floors: known ?? {} };
  }

  #presentQuery(hasTimeline: boolean): RawBuilder<PresentRow> {
    if (this.#database.engine === "sqlite")
      return sql`
        select '' as timeline, coalesce((select seq from sqlite_sequence where name = 'portico_events'), 0) as seq,
          (select json_group_object(keep, seq) from portico_event_floors) as floors`;
    // A promoted replica has another timeline, because it may use numbers again.
    const timeline = hasTimeline ? sql`substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)` : sql`''`;
    return sql`
      select ${timeline} as timeline, (select case when is_called then last_value else 0 end from portico_events_seq) as seq,
        (select json_object_agg(keep, seq) from portico_event_floors) as floors`;
  }

  /** Writes events in a transaction of any library, with one statement. Rejects if the transaction is in another database. */
  async write(run: RunStatement, events: readonly NewEvent[]): Promise<void> {
    const id = await this.id();
    const rows = events.map(({ topic, keep, text }) => {
      const { firstSlot, stepSeconds, seconds } = keptFor[keep];
      return { base: firstSlot, step: stepSeconds, keep, ms: seconds * 1000, topic, payload: text };
    });
    const isPostgres = this.#database.engine === "postgres";
    const count = await run(isPostgres ? INTO_POSTGRES : INTO_SQLITE, [JSON.stringify(rows), id]);
    if (count === 0)
      throw new ConfigurationError(
        "outbox.database",
        `is not the database of this transaction, so the events of ${events[0]?.topic} cannot be part of it. Pass the database that the transaction writes to`,
      );
  }

  /** Writes events in a separate transaction. */
  async writeAlone(events: readonly NewEvent[]): Promise<void> {
    await this.write(statementsOn(this.#database), events);
  }

  /** Returns at most `limit` events of the topics after one position and up to another, in order. */
  async read(
    topics: readonly KeptTopic[],
    after: number,
    upTo: number,
    limit: number,
  ): Promise<readonly StoredEvent[]> {
    const names = topics.map(({ name }) => name);
    const query =
      this.#database.engine === "postgres"
        ? sql<Row>`
            select e.seq, e.topic, e.payload from unnest(${names}::text[]) as t(name), lateral (
              select seq, topic, payload from portico_events
              where slot = any(${slotsOf(topics)}::smallint[]) and topic = t.name
                and seq > ${after}::bigint and seq <= ${upTo}::bigint
              order by seq limit ${limit}::int) e
            order by e.seq limit ${limit}::int`
        : sql<Row>`
            select seq, topic, payload from portico_events
            where topic in (select value from json_each(${JSON.stringify(names)})) and seq > ${after} and seq <= ${upTo}
            order by seq limit ${limit}`;
    const { rows } = await runNamed(this.#database, query);
    return rows.map(({ seq, topic, payload }) => ({ seq: Number(seq), topic, text: payload }));
  }

  /** The last position that is no longer complete, because its events are too old. */
  async floorOf(keep: Keep): Promise<number> {
    const query = sql<{ seq: number | string }>`select seq from portico_event_floors where keep = ${keep}`;
    const { rows } = await runNamed(this.#database, query);
    return Number(rows[0]?.seq ?? 0);
  }

  /** The space that the events take, in bytes. */
  async bytes(): Promise<number> {
    const query =
      this.#database.engine === "postgres"
        ? sql<{ bytes: number | string }>`
            select coalesce(sum(pg_total_relation_size(inhrelid)), 0)::bigint as bytes
            from pg_inherits where inhparent = 'portico_events'::regclass`
        : sql<{ bytes: number | string }>`select coalesce(sum(length(payload) + 64), 0) as bytes from portico_events`;
    const { rows } = await query.execute(this.#database);
    return Number(rows[0]?.bytes ?? 0);
  }
}

/** Whether the tables of durable topics exist. */
export async function hasOutbox(database: Database): Promise<boolean> {
  return new EventTable(asPortico(database.withoutPlugins())).id().then(
    () => true,
    (error: unknown) => {
      if (isInstance(error, ConfigurationError)) return false;
      throw error;
    },
  );
}

interface Row {
  readonly seq: number | string;
  readonly topic: string;
  readonly payload: string;
}

function slotsOf(topics: readonly KeptTopic[]): readonly number[] {
  const firsts = new Set(topics.map(({ keep }) => keptFor[keep].firstSlot));
  return [...firsts].flatMap((first) => Array.from({ length: SLOTS }, (_, place) => first + place));
}

// One parameter for all events, so that the text of the statement is always the same.
const INTO_POSTGRES = `insert into portico_events (slot, topic, payload)
select e.base + (extract(epoch from clock_timestamp())::bigint / e.step) % ${SLOTS}, e.topic, e.payload
from json_to_recordset($1::json) as e(base int, step int, topic text, payload text)
where exists (select from portico_outbox where id = $2) returning seq`;

const INTO_SQLITE = `insert into portico_events (keep, topic, payload, expires_ms)
select e.value ->> 'keep', e.value ->> 'topic', e.value ->> 'payload',
  cast(unixepoch('subsec') * 1000 as integer) + (e.value ->> 'ms')
from json_each(?) as e where exists (select 1 from portico_outbox where id = ?) returning seq`;

function isMissingTable(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  return code === "42P01" || /no such table/.test(String(message));
}
