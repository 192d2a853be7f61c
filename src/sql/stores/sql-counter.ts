import { sql } from "kysely";
import {
  type Count,
  type CounterStore,
  checkReservation,
  checkWindow,
  type Reservation,
} from "../../stores/counter-store.ts";
import { storeKey } from "../../stores/store-key.ts";
import type { Database } from "../database/database.ts";
import { databaseTime } from "./database-time.ts";
import { Sweep } from "./sweep.ts";

/** Counters in a table. Each hit and each granted reservation is one statement. */
export class SqlCounter implements CounterStore {
  readonly #database: Database;
  readonly #sweep: Sweep;

  constructor(database: Database) {
    this.#database = database;
    this.#sweep = new Sweep(database, "portico_counters", "ends_ms");
  }

  async check(): Promise<void> {
    await this.#database.ping();
  }

  async increment(key: string, windowMs: number): Promise<Count> {
    checkWindow(windowMs);
    const now = databaseTime(this.#database);
    const window = sql.lit(windowMs);
    // The row to be inserted ends one window from now, so `now` can be derived from it.
    const isOver = sql`portico_counters.ends_ms <= excluded.ends_ms - ${window}`;
    const { rows } = await sql<Row>`
      insert into portico_counters (key, window_ms, hits, ends_ms) values (${storeKey(key)}, ${window}, 1, ${now} + ${window})
      on conflict (key, window_ms) do update set
        hits = case when ${isOver} then 1 else portico_counters.hits + 1 end,
        ends_ms = case when ${isOver} then excluded.ends_ms else portico_counters.ends_ms end
      returning hits, ends_ms, ends_ms - ${now} as rest`.execute(this.#database);
    this.#sweep.due();
    return countOf(rows[0] ?? { hits: 1, rest: windowMs }, windowMs);
  }

  async reserve(key: string, windowMs: number, units: number, limit: number): Promise<Reservation> {
    checkReservation(windowMs, units, limit);
    const now = databaseTime(this.#database);
    const window = sql.lit(windowMs);
    // Costs and limits vary, so they are parameters: literals would be a new statement each time.
    const [most, given] = [sql`cast(${limit} as integer)`, sql`cast(${units} as integer)`];
    const isOver = sql`portico_counters.ends_ms <= excluded.ends_ms - ${window}`;
    const { rows } = await sql<Row>`
      insert into portico_counters (key, window_ms, hits, ends_ms)
      select ${storeKey(key)}, ${window}, ${given}, ${now} + ${window} where ${given} <= ${most}
      on conflict (key, window_ms) do update set
        hits = case when ${isOver} then excluded.hits else portico_counters.hits + excluded.hits end,
        ends_ms = case when ${isOver} then excluded.ends_ms else portico_counters.ends_ms end
      where ${isOver} or portico_counters.hits + excluded.hits <= ${most}
      returning hits, ends_ms, ends_ms - ${now} as rest`.execute(this.#database);
    this.#sweep.due();
    const [row] = rows;
    if (row === undefined) return { ...(await this.#read(key, windowMs)), isGranted: false, refund: async () => {} };
    return {
      ...countOf(row, windowMs),
      isGranted: true,
      refund: async (returned) => {
        const back = sql`cast(${returned} as integer)`;
        await sql`
          update portico_counters set hits = case when hits > ${back} then hits - ${back} else 0 end
          where key = ${storeKey(key)} and window_ms = ${window} and ends_ms = cast(${row.ends_ms} as bigint)`.execute(
          this.#database,
        );
      },
    };
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

  /** The current count, without a hit. */
  async #read(key: string, windowMs: number): Promise<Count> {
    const now = databaseTime(this.#database);
    const { rows } = await sql<Row>`
      select hits, ends_ms, ends_ms - ${now} as rest from portico_counters
      where key = ${storeKey(key)} and window_ms = ${sql.lit(windowMs)} and ends_ms > ${now}`.execute(this.#database);
    return countOf(rows[0] ?? { hits: 0, rest: windowMs }, windowMs);
  }
}

/** PostgreSQL returns large integers as text. */
interface Row {
  readonly hits: number;
  readonly ends_ms: number | string;
  /** The time until the end of the window. */
  readonly rest: number | string;
}

function countOf({ hits, rest }: Omit<Row, "ends_ms">, windowMs: number): Count {
  return { value: hits, resetAfterMs: Math.min(windowMs, Math.max(0, Number(rest))) };
}
