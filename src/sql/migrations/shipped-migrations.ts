import { type CreateTableBuilder, type Kysely, type RawBuilder, sql } from "kysely";
import type { Database } from "../database/database.ts";
import { createOutbox, dropOutbox } from "./create-outbox.ts";
import type { Migration } from "./migration.ts";

/** A migration of Portico. */
export interface ShippedMigration extends Migration {
  /** Whether it creates tables of `userModel`, which an application with its own users does not need. */
  readonly concernsUsers: boolean;
}

/** All migrations, in order. Do not edit one after its release: append a new one. */
export const shippedMigrations: readonly ShippedMigration[] = [
  {
    name: "0001_users",
    concernsUsers: true,
    async up(database, engine) {
      const time = timeType(engine);
      await database.schema
        .createTable("users")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("email", "text", (column) => column.notNull())
        .addColumn("email_key", "text", (column) => column.notNull().unique())
        .addColumn("username", "text", (column) => column.notNull())
        .addColumn("username_key", "text", (column) => column.notNull().unique())
        .addColumn("password_hash", "text")
        .addColumn("credential_version", "integer", (column) => column.notNull().defaultTo(1))
        .addColumn("email_verified_at", time)
        .addColumn("vouched_at", time)
        .addColumn("disabled_at", time)
        .addColumn("created_at", time, (column) => column.notNull().defaultTo(currentTime(engine)))
        .execute();
    },
    async down(database) {
      await database.schema.dropTable("users").execute();
    },
  },
  {
    name: "0002_permissions_and_roles",
    concernsUsers: true,
    async up(database) {
      await pairs(database, "portico_user_permissions", "user_id", "permission")
        .addForeignKeyConstraint("portico_user_permissions_user", ["user_id"], "users", ["id"], cascade)
        .execute();
      await database.schema
        .createTable("portico_roles")
        .addColumn("name", "text", (column) => column.primaryKey())
        .execute();
      await pairs(database, "portico_role_permissions", "role", "permission")
        .addForeignKeyConstraint("portico_role_permissions_role", ["role"], "portico_roles", ["name"], cascade)
        .execute();
      await pairs(database, "portico_user_roles", "user_id", "role")
        .addForeignKeyConstraint("portico_user_roles_user", ["user_id"], "users", ["id"], cascade)
        .addForeignKeyConstraint("portico_user_roles_role", ["role"], "portico_roles", ["name"], cascade)
        .execute();
      await index(database, "portico_user_roles", "role");
    },
    async down(database) {
      for (const table of [
        "portico_user_roles",
        "portico_role_permissions",
        "portico_roles",
        "portico_user_permissions",
      ])
        await database.schema.dropTable(table).execute();
    },
  },
  {
    name: "0003_stores",
    concernsUsers: false,
    async up(database, engine) {
      await database.schema
        .createTable("portico_entries")
        .addColumn("key", "text", (column) => column.primaryKey())
        .addColumn("value", "text", (column) => column.notNull())
        .addColumn("expires_ms", "bigint")
        .execute();
      await index(database, "portico_entries", "expires_ms");
      // Counts may be lost, so PostgreSQL does not need to log them.
      const counters = database.schema.createTable("portico_counters");
      await (engine === "postgres" ? counters.modifyFront(sql`unlogged`) : counters)
        .addColumn("key", "text", (column) => column.notNull())
        .addColumn("window_ms", "bigint", (column) => column.notNull())
        .addColumn("hits", "integer", (column) => column.notNull())
        .addColumn("ends_ms", "bigint", (column) => column.notNull())
        .addPrimaryKeyConstraint("portico_counters_key", ["key", "window_ms"])
        .execute();
      await index(database, "portico_counters", "ends_ms");
    },
    async down(database) {
      await database.schema.dropTable("portico_counters").execute();
      await database.schema.dropTable("portico_entries").execute();
    },
  },
  { name: "0004_outbox", concernsUsers: false, up: createOutbox, down: dropOutbox },
];

function pairs(
  database: Kysely<any>,
  table: string,
  first: string,
  second: string,
): CreateTableBuilder<string, string> {
  return database.schema
    .createTable(table)
    .addColumn(first, "text", (column) => column.notNull())
    .addColumn(second, "text", (column) => column.notNull())
    .addPrimaryKeyConstraint(`${table}_key`, [first, second]);
}

function index(database: Kysely<any>, table: string, column: string): Promise<void> {
  return database.schema.createIndex(`${table}_${column}`).on(table).column(column).execute();
}

function cascade<B extends { onDelete(action: "cascade"): B }>(constraint: B): B {
  return constraint.onDelete("cascade");
}

function timeType(engine: Database["engine"]): "timestamptz" | "text" {
  return engine === "postgres" ? "timestamptz" : "text";
}

function currentTime(engine: Database["engine"]): RawBuilder<unknown> {
  return engine === "postgres" ? sql`now()` : sql`(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))`;
}
