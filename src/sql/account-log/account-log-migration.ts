import type { Migration } from "../migrations/migration.ts";

/**
 * Creates the table of `accountLog`, with indexes for the newest events of all accounts and of one account. Append it to
 * the application's migrations.
 *
 * @example
 * ```ts
 * import { accountLogMigration, migrate, openDatabase } from "portico/sql";
 *
 * await migrate(openDatabase("sqlite:shop.db"), "up", { migrations: [accountLogMigration] });
 * ```
 */
export const accountLogMigration: Migration = {
  name: "account_log",
  async up(database, engine) {
    await database.schema
      .createTable("account_log")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("at", engine === "postgres" ? "timestamptz" : "text", (column) => column.notNull())
      .addColumn("kind", "text", (column) => column.notNull())
      .addColumn("outcome", "text", (column) => column.notNull())
      .addColumn("user_id", "text")
      .addColumn("actor_id", "text")
      .addColumn("address", "text", (column) => column.notNull())
      .addColumn("device", "text", (column) => column.notNull())
      .execute();
    await database.schema.createIndex("account_log_newest").on("account_log").columns(["at", "id"]).execute();
    await database.schema.createIndex("account_log_user").on("account_log").columns(["user_id", "at", "id"]).execute();
  },
  async down(database) {
    await database.schema.dropTable("account_log").execute();
  },
};
