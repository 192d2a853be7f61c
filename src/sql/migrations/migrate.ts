import type { Kysely } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { describeError } from "../../core/describe-error.ts";
import { PorticoError } from "../../core/portico-error.ts";
import type { Database } from "../database/database.ts";
import { hasTable } from "../database/has-table.ts";
import { withDeadline } from "../database/with-deadline.ts";
import { asPortico } from "../guard/acting-handles.ts";
import { QueryShape } from "../queries/query-shape.ts";
import { inLockedTransaction, onLockedConnection } from "./migration-session.ts";
import { type MigrateOptions, type MigrationStep, migrationSteps, OWN } from "./migration-steps.ts";
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
 * for it. If a migration fails, everything is rolled back, and it rejects with code `MIGRATION_FAILED`. A migration
 * with `transaction: false` runs on its own, so what came before it remains. A migration that is listed before an
 * applied one is rejected too: new ones belong at the end. It does not create accounts.
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
  try {
    return await withDeadline(0, () => run(asPortico(database.withoutPlugins()), direction, steps));
  } finally {
    QueryShape.forgetAll();
  }
}

async function run(
  database: Database,
  direction: "up" | "down" | "down all",
  steps: readonly MigrationStep[],
): Promise<readonly string[]> {
  const locked = steps.every(({ transaction }) => transaction) ? inLockedTransaction : onLockedConnection;
  return locked(database, async (session) => {
    await prepare(session.connection);
    const applied = await appliedMigrations(session.connection, steps);
    const due = direction === "up" ? waiting(steps, applied) : doomed(steps, applied, direction);
    for (const part of parts(due)) {
      const doAll = async (connection: Kysely<any>): Promise<void> => {
        for (const step of part) await runStep(connection, database.engine, direction, step);
      };
      await (part[0]?.transaction === false ? doAll(session.connection) : session.inTransaction(doAll));
    }
    return due.map(({ name }) => name);
  });
}

/** Each migration that runs outside a transaction, and the rows of migrations between them. */
function parts(steps: readonly MigrationStep[]): readonly (readonly MigrationStep[])[] {
  const all: MigrationStep[][] = [];
  for (const step of steps) {
    const last = all.at(-1);
    if (step.transaction && last?.[0]?.transaction === true) last.push(step);
    else all.push([step]);
  }
  return all;
}

async function runStep(
  connection: Kysely<any>,
  engine: Database["engine"],
  direction: "up" | "down" | "down all",
  step: MigrationStep,
): Promise<void> {
  try {
    await (direction === "up" ? step.up(connection, engine) : step.down(connection));
  } catch (cause) {
    const reason = describeError(cause);
    const hint = step.transaction ? "" : ". It runs outside a transaction, so part of it may have been applied";
    throw failed(`The migration ${step.name} failed: ${reason}${hint}`, cause);
  }
  if (direction === "up")
    await connection.insertInto(TABLE).values({ name: step.key, applied_at: new Date().toISOString() }).execute();
  else await connection.deleteFrom(TABLE).where("name", "=", step.key).execute();
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
  const bare = asPortico(database.withoutPlugins());
  const applied = (await hasTable(bare, TABLE)) ? await appliedMigrations(bare, steps) : new Map<string, string>();
  return steps.map(({ key, name }) => {
    const at = applied.get(key);
    return { name, appliedAt: at === undefined ? null : new Date(at) };
  });
}

const TABLE = "portico_migrations";

async function prepare(database: Kysely<any>): Promise<void> {
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

/** Throws if one of the application's is listed before an applied one, on which it would have had no effect elsewhere. */
function waiting(steps: readonly MigrationStep[], applied: ReadonlyMap<string, string>): readonly MigrationStep[] {
  const own = steps.filter(({ key }) => key.startsWith(OWN));
  const last = own.findLast(({ key }) => applied.has(key));
  const early = own.slice(0, last === undefined ? 0 : own.indexOf(last)).find(({ key }) => !applied.has(key));
  if (early !== undefined)
    throw failed(
      `The migration ${early.name} is listed before ${last?.name}, which has been applied: move it to the end of migrations`,
    );
  return steps.filter(({ key }) => !applied.has(key));
}

function doomed(
  steps: readonly MigrationStep[],
  applied: ReadonlyMap<string, string>,
  direction: "down" | "down all",
): readonly MigrationStep[] {
  const stays = [...applied.keys()].find((key) => key.startsWith(OWN) && !steps.some((step) => step.key === key));
  if (stays !== undefined)
    throw failed(
      `The migration ${stays.slice(OWN.length)} depends on Portico's tables: pass your migrations so that it is undone first`,
    );
  const newestFirst = steps.filter(({ key }) => applied.has(key)).toReversed();
  return direction === "down" ? newestFirst.slice(0, 1) : newestFirst;
}

function failed(sentence: string, cause?: unknown): PorticoError {
  return new PorticoError("MIGRATION_FAILED", sentence, { cause });
}
