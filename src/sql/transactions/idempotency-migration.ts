import type { Migration } from "../migrations/migration.ts";

/**
 * Creates the table of the option `idempotent`: idempotency keys with the stored responses. Append it to the application's
 * migrations.
 *
 * @example
 * ```ts
 * import { idempotencyMigration, migrate, openDatabase } from "portico/sql";
 *
 * await migrate(openDatabase("sqlite:shop.db"), "up", { migrations: [idempotencyMigration] });
 * ```
 */
export const idempotencyMigration: Migration = {
  name: "idempotency",
  async up(database, engine) {
    await database.schema
      .createTable("portico_idempotency")
      .addColumn("caller", "text", (column) => column.notNull())
      .addColumn("key", "text", (column) => column.notNull())
      .addColumn("response", engine === "postgres" ? "bytea" : "blob")
      .addColumn("begun_ms", "bigint", (column) => column.notNull())
      .addColumn("expires_ms", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("portico_idempotency_key", ["caller", "key"])
      .execute();
    await database.schema
      .createIndex("portico_idempotency_expires_ms")
      .on("portico_idempotency")
      .column("expires_ms")
      .execute();
  },
  async down(database) {
    await database.schema.dropTable("portico_idempotency").execute();
  },
};
