import { hash } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import type {
  KeepingTransaction,
  KeyPlace,
  ResponseStore,
  StoredResponse,
} from "../../kernel/idempotency/response-store.ts";
import type { Database } from "../database/database.ts";
import { hasTable } from "../database/has-table.ts";
import { runNamed } from "../database/run-named.ts";
import { asPortico } from "../guard/acting-handles.ts";
import { databaseTime } from "../stores/database-time.ts";
import { Sweep } from "../stores/sweep.ts";

const TABLE = "portico_idempotency";
/** The key of the row that says when the access of a user has changed. No request can send it. */
const CHANGE = "";
/** The caller of the row that says when the access of any user may have changed. No user has this identity. */
const ANYONE = "";
/** How long a change is remembered: as long as a response may be stored. */
const CHANGE_MS = 366 * 24 * 3_600_000;

const SERIALIZATION_FAILURE = "40001";

const stores = new WeakMap<Database, SqlResponses>();

/** Returns the table of stored responses of a database. The transactions of one database share it. */
export function sqlResponses(database: Database): ResponseStore {
  const bare = database.withoutPlugins();
  const known = stores.get(bare);
  if (known !== undefined) return known;
  const store = new SqlResponses(asPortico(bare));
  stores.set(bare, store);
  return store;
}

/** Idempotency keys and sealed responses in a table. */
class SqlResponses implements ResponseStore {
  readonly running = new Map<string, Promise<Uint8Array | null>>();
  readonly #database: Database;
  readonly #now: RawBuilder<number>;
  readonly #sweep: Sweep;

  constructor(database: Database) {
    this.#database = database;
    this.#now = databaseTime(database);
    this.#sweep = new Sweep(database, TABLE, "expires_ms");
  }

  async check(): Promise<void> {
    if (await hasTable(this.#database, TABLE)) return;
    throw new ConfigurationError(
      "idempotent:",
      `the database has no table ${TABLE}. Append idempotencyMigration of portico/sql to your migrations, and migrate`,
    );
  }

  async find({ caller, key }: KeyPlace): Promise<StoredResponse | null> {
    const { rows } = await runNamed(
      this.#database,
      sql<{ response: Uint8Array | null; begun_ms: string | number; changed_ms: string | number | null }>`
        select response, begun_ms, (
          select max(change.begun_ms) from portico_idempotency change
          where change.key = ${CHANGE} and change.caller in (${caller}, ${ANYONE})
        ) as changed_ms
        from portico_idempotency where caller = ${caller} and key = ${key} and expires_ms > ${this.#now}`,
    );
    const [row] = rows;
    if (row === undefined) return null;
    return {
      sealed: row.response ?? new Uint8Array(),
      isOutdated: row.changed_ms !== null && Number(row.changed_ms) >= Number(row.begun_ms),
    };
  }

  async isFree(place: KeyPlace): Promise<boolean> {
    if (this.#database.engine === "sqlite") return true;
    const { rows } = await sql<{ free: boolean }>`select pg_try_advisory_xact_lock(${lockOf(place)}) as free`.execute(
      this.#database,
    );
    return rows[0]?.free === true;
  }

  async claim(trx: KeepingTransaction, place: KeyPlace, keepMs: number): Promise<boolean> {
    const { caller, key } = place;
    const now = this.#now;
    const row = sql`cast(${caller} as text), cast(${key} as text), ${now}, ${now} + ${sql.lit(keepMs)}`;
    // Without the lock, it would wait for another transaction with the key, and hold a connection meanwhile.
    const isFree = this.#database.engine === "postgres" ? sql`pg_try_advisory_xact_lock(${lockOf(place)})` : sql`true`;
    const claimed = sql`
      insert into portico_idempotency (caller, key, begun_ms, expires_ms) select ${row} where ${isFree}
      on conflict (caller, key) do update
      set response = null, begun_ms = excluded.begun_ms, expires_ms = excluded.expires_ms
      where portico_idempotency.expires_ms <= ${now} returning 1 as claimed`.execute(within(trx));
    this.#sweep.due();
    return claimed.then(
      ({ rows }) => rows.length > 0,
      (error: unknown) => {
        // Above `read committed`, a row that was committed since the transaction began is an error.
        if ((error as { readonly code?: unknown } | null)?.code !== SERIALIZATION_FAILURE) throw error;
        return false;
      },
    );
  }

  async keep(trx: KeepingTransaction, { caller, key }: KeyPlace, sealed: Uint8Array): Promise<void> {
    await sql`update portico_idempotency set response = ${sealed} where caller = ${caller} and key = ${key}`.execute(
      within(trx),
    );
  }

  async accessChanged(user: string | null): Promise<void> {
    const now = this.#now;
    await sql`
      insert into portico_idempotency (caller, key, begun_ms, expires_ms)
      values (${user ?? ANYONE}, ${CHANGE}, ${now}, ${now} + ${sql.lit(CHANGE_MS)})
      on conflict (caller, key) do update set begun_ms = excluded.begun_ms, expires_ms = excluded.expires_ms`.execute(
      this.#database,
    );
  }
}

function within(trx: KeepingTransaction): Database {
  return asPortico((trx as KeepingTransaction & Database).withoutPlugins());
}

/** The number of the lock. Two keys with one number would only make one of them wait. */
function lockOf({ caller, key }: KeyPlace): RawBuilder<unknown> {
  const digest = hash("sha256", JSON.stringify([caller, key]), "buffer");
  return sql`cast(${String(digest.readBigInt64BE())} as bigint)`;
}
