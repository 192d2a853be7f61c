import { type Kysely, sql } from "kysely";
import type { Database } from "../database/database.ts";

/** How the events of a topic with this `keep` are stored. */
export interface KeptFor {
  readonly seconds: number;
  /** The first of its slots. */
  readonly firstSlot: number;
  /** How long events are written to one slot. */
  readonly stepSeconds: number;
}

/** Slots are used in turn. A step is a quarter of the time, so five slots have events that are kept, and one is emptied. */
export const SLOTS = 6;

/** The time that each `keep` stands for. Their order is part of the schema. */
export const keptFor: Readonly<Record<"1h" | "1d" | "7d" | "30d", KeptFor>> = {
  "1h": slots(0, 3_600),
  "1d": slots(1, 86_400),
  "7d": slots(2, 604_800),
  "30d": slots(3, 2_592_000),
};

function slots(place: number, seconds: number): KeptFor {
  return { seconds, firstSlot: place * SLOTS, stepSeconds: seconds / 4 };
}

/** Creates the tables of durable topics. */
export async function createOutbox(database: Kysely<any>, engine: Database["engine"]): Promise<void> {
  const isPostgres = engine === "postgres";
  // The id tells this outbox from that of another database. Nothing writes to it, so it adds no conflict to a transaction.
  await sql`create table portico_outbox (id text primary key)`.execute(database);
  await sql`insert into portico_outbox select ${sql.raw(isPostgres ? "gen_random_uuid()::text" : "lower(hex(randomblob(16)))")}`.execute(
    database,
  );
  if (isPostgres) await createPostgresEvents(database);
  else await createSqliteEvents(database);
  const big = sql.raw(isPostgres ? "bigint" : "integer");
  await sql`create table portico_event_floors (keep text primary key, seq ${big} not null)`.execute(database);
  await sql`create table portico_leases (
    name text primary key, holder text not null, ends_ms ${big} not null, position ${big} not null)`.execute(database);
  await sql`create table portico_failed_events (
    consumer text not null, seq ${big} not null, topic text not null, key text not null, payload text not null,
    failures integer not null, retry_ms ${big} not null, is_set_aside integer not null, error text not null,
    primary key (consumer, seq))`.execute(database);
  await sql`create index portico_failed_events_key on portico_failed_events (consumer, key, seq)`.execute(database);
}

async function createPostgresEvents(database: Kysely<any>): Promise<void> {
  await sql`create sequence portico_events_seq`.execute(database);
  // The transaction has its number before it reads the sequence, which the relay relies on: xid stays the first column.
  await sql`create table portico_events (
    xid xid8 not null default pg_current_xact_id(),
    seq bigint not null default nextval('portico_events_seq'),
    slot smallint not null, topic text not null, payload text not null,
    at timestamptz not null default clock_timestamp()) partition by list (slot)`.execute(database);
  await sql`alter sequence portico_events_seq owned by portico_events.seq`.execute(database);
  await sql`create index portico_events_topic on portico_events (topic, seq)`.execute(database);
  for (const [keep, { firstSlot }] of Object.entries(keptFor))
    for (let slot = firstSlot; slot < firstSlot + SLOTS; slot++)
      await sql`create table ${sql.table(slotTable(keep, slot))} partition of portico_events for values in (${sql.lit(slot)})`.execute(
        database,
      );
}

/** The table of a slot on PostgreSQL. */
export function slotTable(keep: string, slot: number): string {
  return `portico_events_${keep}_${slot % SLOTS}`;
}

async function createSqliteEvents(database: Kysely<any>): Promise<void> {
  await sql`create table portico_events (
    seq integer primary key autoincrement, keep text not null, topic text not null, payload text not null,
    expires_ms integer not null)`.execute(database);
  await sql`create index portico_events_topic on portico_events (topic, seq)`.execute(database);
  await sql`create index portico_events_expires on portico_events (expires_ms)`.execute(database);
}

/** Drops the tables of durable topics. */
export async function dropOutbox(database: Kysely<any>): Promise<void> {
  for (const table of ["failed_events", "leases", "event_floors", "events", "outbox"])
    await database.schema.dropTable(`portico_${table}`).execute();
}
