import type { Kysely } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { flag, listOf, optional, resolveOptions } from "../../core/resolve-options.ts";
import type { Database } from "../database/database.ts";
import { shippedMigrations } from "./shipped-migrations.ts";

/**
 * One step of the schema, forth and back. What was released is not edited: a change is another one, behind it in the list.
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
  /** Your own, in the order in which they are applied: after Portico's, in the same transaction and table. @default [] */
  readonly migrations?: readonly Migration[];
  /** Whether the tables of `userModel` are among Portico's; without them, a table `users` of your own may stand there. @default true */
  readonly users?: boolean;
}

/** A migration, and the name by which the database knows it: one of yours may be called like one of Portico's. */
export interface MigrationStep extends Migration {
  readonly key: string;
}

/** What the names of an application's own migrations begin with, in the table. */
export const OWN = "own/";

/** All of them, in the order in which they are applied. Throws `ConfigurationError` for what is no migration, and for another option. */
export function migrationSteps(options: MigrateOptions): readonly MigrationStep[] {
  const { migrations, users } = resolveOptions("migrate", options, rules);
  const names = new Set<string>();
  for (const { name } of migrations) {
    if (names.has(name)) throw new ConfigurationError("migrate.migrations", `has two of the name ${name}`);
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
