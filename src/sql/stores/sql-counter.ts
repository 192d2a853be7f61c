import { sql } from "kysely";
import { type Count, type CounterStore, checkWindow } from "../../stores/counter-store.ts";
import { storeKey } from "../../stores/store-key.ts";
import type { Database } from "../database/database.ts";
import { databaseTime } from "./database-time.ts";
import { Sweep } from "./sweep.ts";

/** Counters in a table. Each hit is one statement. */
export class SqlCounter implements CounterStore {
  readonly #database: Database;
  readonly #sweep: Sweep;

  constructor(database: Database) {
    this.#database = database;
    this.#sweep = new Sweep(database, "portico_counters", "ends_ms");
  }

  async increment(key: string, windowMs: number): Promise<Count> {
    checkWindow(windowMs);
    const now = databaseTime(this.#database);
    const window = sql.lit(windowMs);
    // The row to be inserted ends one window from now, so `now` can be derived from it.
    const isOver = sql`portico_counters.ends_ms <= excluded.ends_ms - ${window}`;
    const { rows } = await sql<{ hits: number; rest: number | string }>`
      insert into portico_counters (key, window_ms, hits, ends_ms) values (${storeKey(key)}, ${window}, 1, ${now} + ${window})
      on conflict (key, window_ms) do update set
        hits = case when ${isOver} then 1 else portico_counters.hits + 1 end,
        ends_ms = case when ${isOver} then excluded.ends_ms else portico_counters.ends_ms end
      returning hits, ends_ms - ${now} as rest`.execute(this.#database);
    this.#sweep.due();
    const { hits, rest } = rows[0] ?? { hits: 1, rest: windowMs };
    return { value: hits, resetAfterMs: Math.min(windowMs, Math.max(0, Number(rest))) };
  }

  async reset(key: string, windowMs: number): Promise<void> {
    checkWindow(windowMs);
    await sql`delete from portico_counters where key = ${storeKey(key)} and window_ms = ${sql.lit(windowMs)}`.execute(
      this.#database,
    );
  }

  async resetAll(): Promise<void> {
    await sql`delete from portico_counters`.execute(this.#database);
  }
}
