import type { Kysely } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { flag, listOf, optional, resolveOptions } from "../../core/resolve-options.ts";
import type { Database } from "../database/database.ts";
import { shippedMigrations } from "./shipped-migrations.ts";

/**
 * A reversible change of the schema. Do not edit a migration after its release: append a new one to the list.
 *
 * @example
 * ```ts
 * import type { Migration } from "portico/sql";
 *
 * export const books: Migration = {
 *   name: "0001_books",
 *   async up(database) {
 *     await database.schema.createTable("books").addColumn("isbn", "text", (column) => column.primaryKey()).execute();
 *   },
 *   async down(database) {
 *     await database.schema.dropTable("books").execute();
 *   },
 * };
 * ```
 */
export interface Migration {
  readonly name: string;
  up(database: Kysely<any>, engine: Database["engine"]): Promise<void>;
  down(database: Kysely<any>): Promise<void>;
}

export interface MigrateOptions {
  /**
   * Your migrations, in order. They run after Portico's, in the same transaction, and are recorded in the same table.
   * @default []
   */
  readonly migrations?: readonly Migration[];
  /**
   * Whether Portico creates the tables of `userModel`. Without them, your own table may be called `users`. @default
   * true
   */
  readonly users?: boolean;
}

/** A migration and its name in the database, because one of yours may have the same name as one of Portico's. */
export interface MigrationStep extends Migration {
  readonly key: string;
}

/** The prefix of an application's migrations in the table. */
export const OWN = "own/";

/** Returns all migrations in order. Throws `ConfigurationError` for an invalid migration or an unknown option. */
export function migrationSteps(options: MigrateOptions): readonly MigrationStep[] {
  const { migrations, users } = resolveOptions("migrate", options, rules);
  const names = new Set<string>();
  for (const { name } of migrations) {
    if (names.has(name)) throw new ConfigurationError("migrate.migrations", `has two migrations named ${name}`);
    names.add(name);
  }
  return [
    ...shippedMigrations.filter(({ concernsUsers }) => users || !concernsUsers).map((migration) => step(migration, "")),
    ...migrations.map((migration) => step(migration, OWN)),
  ];
}

const rules = {
  migrations: optional(listOf<Migration>("a list of migrations, each with name, up and down", isMigration), []),
  users: optional(flag, true),
};

function step(migration: Migration, prefix: string): MigrationStep {
  return {
    key: prefix + migration.name,
    name: migration.name,
    up: (database, engine) => migration.up(database, engine),
    down: (database) => migration.down(database),
  };
}

function isMigration(value: unknown): value is Migration {
  const { name, up, down } = (value ?? {}) as Partial<Migration>;
  return typeof name === "string" && name !== "" && typeof up === "function" && typeof down === "function";
}
