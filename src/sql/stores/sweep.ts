import { sql } from "kysely";
import { inBackground } from "../../core/work/in-background.ts";
import type { Database } from "../database/database.ts";
import { databaseTime } from "./database-time.ts";

const EVERY_MS = 10_000;
const MAX_ROWS = 1_000;

/**
 * Deletes expired rows, a thousand at a time. There are no timers: every write calls `due`, which starts a sweep in the
 * background every ten seconds. If a sweep deleted a thousand rows, the next call continues.
 */
export class Sweep {
  readonly #database: Database;
  readonly #table: string;
  readonly #column: string;
  #isRunning = false;
  #nextAt: number = performance.now() + EVERY_MS;

  constructor(database: Database, table: string, column: string) {
    this.#database = database;
    this.#table = table;
    this.#column = column;
  }

  due(): void {
    if (this.#isRunning || performance.now() < this.#nextAt) return;
    this.#isRunning = true;
    inBackground(this.#runAside());
  }

  async #runAside(): Promise<void> {
    // A failed sweep is retried later and does not fail the write.
    const count = await this.run().catch(() => 0);
    this.#nextAt = count === MAX_ROWS ? 0 : performance.now() + EVERY_MS;
    this.#isRunning = false;
  }

  /** Deletes up to a thousand rows and returns how many were deleted. */
  async run(): Promise<number> {
    const table = sql.table(this.#table);
    const row = sql.raw(this.#database.engine === "postgres" ? "ctid" : "rowid");
    const unlocked = sql.raw(this.#database.engine === "postgres" ? "for update skip locked" : "");
    const { numAffectedRows } = await sql`
      delete from ${table} where ${row} in (
        select ${row} from ${table} where ${sql.ref(this.#column)} <= ${databaseTime(this.#database)}
        limit ${sql.lit(MAX_ROWS)} ${unlocked}
      )`.execute(this.#database);
    return Number(numAffectedRows ?? 0);
  }
}
