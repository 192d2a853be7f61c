import { ConfigurationError } from "../../core/configuration-error.ts";
import { flag, listOf, optional, resolveOptions } from "../../core/resolve-options.ts";
import type { Migration } from "./migration.ts";
import { shippedMigrations } from "./shipped-migrations.ts";

export interface MigrateOptions {
  /**
   * Your migrations, in order: a new one belongs at the end. They run after Portico's, in the same transaction, and are
   * recorded in the same table. @default []
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
  readonly transaction: boolean;
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
    transaction: migration.transaction ?? true,
    up: (database, engine) => migration.up(database, engine),
    down: (database) => migration.down(database),
  };
}

function isMigration(value: unknown): value is Migration {
  const { name, transaction = true, up, down } = (value ?? {}) as Partial<Migration>;
  if (typeof name !== "string" || name === "" || typeof transaction !== "boolean") return false;
  return typeof up === "function" && typeof down === "function";
}
