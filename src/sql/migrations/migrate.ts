import { type Kysely, sql } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { PorticoError } from "../../core/portico-error.ts";
import type { Database } from "../database/database.ts";
import { withDeadline } from "../database/with-deadline.ts";
import { type MigrateOptions, type MigrationStep, migrationSteps, OWN } from "./migration.ts";
import { shippedMigrations } from "./shipped-migrations.ts";

/** A migration and the time when it was applied, or `null` if it was not. */
export interface MigrationStatus {
  readonly name: string;
  readonly appliedAt: Date | null;
}

/**
 * Brings the tables up to date (`"up"`): Portico's, and yours if `migrations` has any. Or undoes the last migration
 * (`"down"`) or all of them (`"down all"`), including the data in the tables. Returns the names of the migrations it
 * ran, which may be an empty list.
 *
 * It runs in one transaction under a lock: if several processes start at once, one does the work and the others wait
 * for it. If a migration fails, everything is rolled back, and it rejects with code `MIGRATION_FAILED`. It does not
 * create accounts.
 *
 * @example
 * ```ts
 * import { migrate, openDatabase } from "portico/sql";
 *
 * const database = openDatabase("sqlite:shop.db");
 * for (const name of await migrate(database, "up")) console.log(`applied ${name}`);
 * ```
 */
export async function migrate(
  database: Database,
  direction: "up" | "down" | "down all",
  options: MigrateOptions = {},
): Promise<readonly string[]> {
  if (!["up", "down", "down all"].includes(direction))
    throw new ConfigurationError("migrate.direction", '"up", "down" or "down all"', direction);
  const steps = migrationSteps(options);
  // An index on a large table may take long, so there is no deadline.
  return withDeadline(0, () => run(database, direction, steps));
}

async function run(
  database: Database,
  direction: "up" | "down" | "down all",
  steps: readonly MigrationStep[],
): Promise<readonly string[]> {
  const trx = await database.begin();
  try {
    await prepare(trx, database.engine);
    const applied = await appliedMigrations(trx, steps);
    const done =
      direction === "up" ? await up(trx, database, steps, applied) : await down(trx, steps, applied, direction);
    await trx.end("success");
    return done;
  } catch (error) {
    await trx.end("failure");
    throw error;
  }
}

/**
 * Returns Portico's migrations and then yours, in order, with the time when each was applied.
 *
 * @example
 * ```ts
 * import { migrationStatus, openDatabase } from "portico/sql";
 *
 * const waiting = (await migrationStatus(openDatabase("sqlite:shop.db"))).filter(({ appliedAt }) => appliedAt === null);
 * if (waiting.length > 0) throw new Error(`run portico migrate up: ${waiting.length} are waiting`);
 * ```
 */
export async function migrationStatus(
  database: Database,
  options: MigrateOptions = {},
): Promise<readonly MigrationStatus[]> {
  const steps = migrationSteps(options);
  const applied = (await hasTable(database)) ? await appliedMigrations(database, steps) : new Map<string, string>();
  return steps.map(({ key, name }) => {
    const at = applied.get(key);
    return { name, appliedAt: at === undefined ? null : new Date(at) };
  });
}

const TABLE = "portico_migrations";
// "portic" in ASCII, as a lock number that other programs are unlikely to use.
const LOCK = 0x70_6f_72_74_69_63;

async function prepare(database: Kysely<any>, engine: Database["engine"]): Promise<void> {
  // SQLite has one writer at a time, so the transaction itself is the lock.
  if (engine === "postgres") {
    // This process waits for the lock, however long another process needs.
    await sql`set local lock_timeout = 0`.execute(database);
    await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(database);
  }
  await database.schema
    .createTable(TABLE)
    .ifNotExists()
    .addColumn("name", "text", (column) => column.primaryKey())
    .addColumn("applied_at", "text", (column) => column.notNull())
    .execute();
}

async function appliedMigrations(
  database: Kysely<any>,
  steps: readonly MigrationStep[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.selectFrom(TABLE).select(["name", "applied_at"]).execute();
  const applied = new Map(rows.map((row) => [String(row["name"]), String(row["applied_at"])]));
  const hasOwn = steps.some(({ key }) => key.startsWith(OWN));
  for (const key of applied.keys()) {
    if (steps.some((step) => step.key === key) || shippedMigrations.some(({ name }) => name === key)) continue;
    if (!key.startsWith(OWN))
      throw failed(
        `The database has a migration that this version of Portico does not know: ${key}. A newer version applied it: upgrade Portico`,
      );
    // A call without migrations concerns only Portico's own.
    if (hasOwn)
      throw failed(
        `The database has a migration that is not in the list: ${key.slice(OWN.length)}. Add it to migrations again. If it no longer exists, undo its changes manually and delete the row '${key}' from ${TABLE}`,
      );
  }
  return applied;
}

async function up(
  trx: Kysely<any>,
  { engine }: Database,
  steps: readonly MigrationStep[],
  applied: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  const waiting = steps.filter(({ key }) => !applied.has(key));
  for (const step of waiting) {
    await named(step.name, () => step.up(trx, engine));
    await trx.insertInto(TABLE).values({ name: step.key, applied_at: new Date().toISOString() }).execute();
  }
  return waiting.map(({ name }) => name);
}

async function down(
  trx: Kysely<any>,
  steps: readonly MigrationStep[],
  applied: ReadonlyMap<string, string>,
  direction: "down" | "down all",
): Promise<readonly string[]> {
  const stays = [...applied.keys()].find((key) => key.startsWith(OWN) && !steps.some((step) => step.key === key));
  if (stays !== undefined)
    throw failed(
      `The migration ${stays.slice(OWN.length)} depends on Portico's tables: pass your migrations so that it is undone first`,
    );
  const newestFirst = steps.filter(({ key }) => applied.has(key)).toReversed();
  const doomed = direction === "down" ? newestFirst.slice(0, 1) : newestFirst;
  for (const step of doomed) {
    await named(step.name, () => step.down(trx));
    await trx.deleteFrom(TABLE).where("name", "=", step.key).execute();
  }
  return doomed.map(({ name }) => name);
}

async function named(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw failed(`The migration ${name} failed: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
}

function failed(sentence: string, cause?: unknown): PorticoError {
  return new PorticoError("MIGRATION_FAILED", sentence, { cause });
}

/** Creates the table only if it is missing, because an error would end a PostgreSQL transaction. */
async function hasTable(database: Database): Promise<boolean> {
  const query =
    database.engine === "postgres"
      ? sql<{ found: unknown }>`select to_regclass(${TABLE}) as found`
      : sql<{
          found: unknown;
        }>`select (select name from sqlite_master where type = 'table' and name = ${TABLE}) as found`;
  const { rows } = await query.execute(database);
  return (rows[0]?.found ?? null) !== null;
}
