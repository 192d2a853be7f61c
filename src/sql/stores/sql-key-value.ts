import { type RawBuilder, sql } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { checkTtl, type KeyValueStore } from "../../stores/key-value-store.ts";
import { storeKey } from "../../stores/store-key.ts";
import type { Database } from "../database/database.ts";
import { runNamed } from "../database/run-named.ts";
import { type MigrationStatus, migrationStatus } from "../migrations/migrate.ts";
import { databaseTime } from "./database-time.ts";
import { Sweep } from "./sweep.ts";

/** Entries in a table. Each method is one statement, so the database makes it atomic between processes. */
export class SqlKeyValue implements KeyValueStore {
  readonly #database: Database;
  readonly #now: RawBuilder<number>;
  readonly #isAlive: RawBuilder<boolean>;
  readonly #sweep: Sweep;

  constructor(database: Database) {
    this.#database = database;
    this.#now = databaseTime(database);
    this.#isAlive = sql`(portico_entries.expires_ms is null or portico_entries.expires_ms > ${this.#now})`;
    this.#sweep = new Sweep(database, "portico_entries", "expires_ms");
  }

  /** Rejects with `ConfigurationError` if the tables are missing or not up to date. */
  async start(): Promise<void> {
    const waiting = await waitingMigrations(this.#database);
    if (waiting.length > 0)
      throw new ConfigurationError(
        "sqlStores.database",
        `has pending migrations (${waiting.length}): run "portico migrate up" or call migrate(database, "up")`,
      );
  }

  async check(): Promise<void> {
    await this.#database.ping();
  }

  async get(key: string): Promise<string | null> {
    const { rows } = await runNamed(
      this.#database,
      sql<{ value: string }>`select value from portico_entries where key = ${storeKey(key)} and ${this.#isAlive}`,
    );
    return rows[0]?.value ?? null;
  }

  async set(key: string, value: string, ttlMs?: number): Promise<void> {
    await this.#insert(key, value, ttlMs, sql`true`);
  }

  async setIfAbsent(key: string, value: string, ttlMs?: number): Promise<boolean> {
    return this.#insert(key, value, ttlMs, sql`not ${this.#isAlive}`);
  }

  async compareAndSet(key: string, expected: string | null, value: string, ttlMs?: number): Promise<boolean> {
    if (expected === null) return this.setIfAbsent(key, value, ttlMs);
    checkTtl(ttlMs);
    const { numAffectedRows } = await sql`
      update portico_entries set value = ${value}, expires_ms = ${this.#expiry(ttlMs)}
      where key = ${storeKey(key)} and value = ${expected} and ${this.#isAlive}`.execute(this.#database);
    return numAffectedRows === 1n;
  }

  async delete(key: string): Promise<boolean> {
    const { rows } = await sql<{ alive: boolean | number }>`
      delete from portico_entries where key = ${storeKey(key)} returning ${this.#isAlive} as alive`.execute(
      this.#database,
    );
    return Boolean(rows[0]?.alive);
  }

  async time(): Promise<number> {
    const { rows } = await runNamed(this.#database, sql<{ now: number | string }>`select ${this.#now} as now`);
    return Number(rows[0]?.now);
  }

  /** Inserts an entry, or overwrites the existing one if `may` is true. */
  async #insert(key: string, value: string, ttlMs: number | undefined, may: RawBuilder<unknown>): Promise<boolean> {
    checkTtl(ttlMs);
    const { numAffectedRows } = await sql`
      insert into portico_entries (key, value, expires_ms) values (${storeKey(key)}, ${value}, ${this.#expiry(ttlMs)})
      on conflict (key) do update set value = excluded.value, expires_ms = excluded.expires_ms
      where ${may}`.execute(this.#database);
    this.#sweep.due();
    return numAffectedRows === 1n;
  }

  #expiry(ttlMs: number | undefined): RawBuilder<unknown> {
    // A literal instead of a parameter, which PostgreSQL would read as a 32-bit number.
    return ttlMs === undefined ? sql`null` : sql`${this.#now} + ${sql.lit(ttlMs)}`;
  }
}

/**
 * If the store tables exist but no user tables do, the application has its own users, and Portico's user migrations are
 * not pending.
 */
async function waitingMigrations(database: Database): Promise<readonly MigrationStatus[]> {
  const [all, stores] = [await migrationStatus(database), await migrationStatus(database, { users: false })];
  const users = all.filter(({ name }) => !stores.some((store) => store.name === name));
  return users.every(isWaiting) && !stores.some(isWaiting) ? [] : all.filter(isWaiting);
}

function isWaiting({ appliedAt }: MigrationStatus): boolean {
  return appliedAt === null;
}
