import { sql } from "kysely";
import type { Keep } from "../../stores/pub-sub.ts";
import type { Database } from "../database/database.ts";
import { keptFor, SLOTS, slotTable } from "../migrations/create-outbox.ts";

const MAX_ROWS = 1_000;

/** Removes events that are older than their `keep`. On PostgreSQL, it empties whole tables, which leaves no bloat behind. */
export async function cleanEvents(database: Database): Promise<void> {
  if (database.engine === "sqlite") return cleanSqlite(database);
  for (const keep of Object.keys(keptFor) as Keep[]) await emptyNextSlot(database, keep);
}

/** Empties the table that is written to next. Its events are older than all that must be kept. */
async function emptyNextSlot(database: Database, keep: Keep): Promise<void> {
  const { firstSlot, stepSeconds } = keptFor[keep];
  const step = sql<number>`floor(extract(epoch from clock_timestamp()) / ${sql.lit(stepSeconds)})::bigint`;
  const { rows } = await sql<{ step: string }>`select ${step} as step`.execute(database);
  const present = Number(rows[0]?.step);
  const table = sql.table(slotTable(keep, firstSlot + ((present + 1) % SLOTS)));
  const found = await sql`select 1 as one from ${table} limit 1`.execute(database);
  if (found.rows.length === 0) return;
  const trx = await database.begin();
  try {
    await sql`set local lock_timeout = '500ms'`.execute(trx);
    await sql`lock table ${table} in access exclusive mode`.execute(trx);
    // Writers take their slot by the same clock, and none can begin with this table while it is locked.
    const now = await sql<{ step: string; seq: string | null }>`
      with recursive topics as (
        select min(topic) as topic from ${table}
        union all select (select min(topic) from ${table} where topic > topics.topic) from topics where topics.topic is not null)
      select ${step} as step, (select max((select max(seq) from ${table} as e where e.topic = topics.topic)) from topics) as seq`.execute(
      trx,
    );
    const [state] = now.rows;
    if (Number(state?.step) === present && (state?.seq ?? null) !== null) {
      await raiseFloor(trx, keep, Number(state?.seq));
      await sql`truncate ${table}`.execute(trx);
    }
    await trx.end("success");
  } catch (error) {
    await trx.end("failure");
    // A reader holds the table, so the next attempt empties it.
    if ((error as { readonly code?: unknown }).code !== "55P03") throw error;
  }
}

async function cleanSqlite(database: Database): Promise<void> {
  const now = sql`cast(unixepoch('subsec') * 1000 as integer)`;
  const { rows } = await sql<{ keep: Keep; seq: number }>`
    delete from portico_events where seq in (select seq from portico_events where expires_ms <= ${now} limit ${MAX_ROWS})
    returning keep, seq`.execute(database);
  const floors = new Map<Keep, number>();
  for (const { keep, seq } of rows) floors.set(keep, Math.max(seq, floors.get(keep) ?? 0));
  for (const [keep, seq] of floors) await raiseFloor(database, keep, seq);
}

async function raiseFloor(database: Database, keep: Keep, seq: number): Promise<void> {
  await sql`
    insert into portico_event_floors (keep, seq) values (${keep}, cast(${seq} as bigint))
    on conflict (keep) do update set seq = excluded.seq where portico_event_floors.seq < excluded.seq`.execute(
    database,
  );
}
