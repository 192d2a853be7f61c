import { migrate } from "portico/sql";
import { defineRoles } from "../accounts/user.ts";
import { database } from "../database.ts";
import { shopMigrations } from "./shop-migrations.ts";

/** Brings all tables up to date, Portico's first, and then the roles. Returns the names of the applied migrations. */
export async function migrateAll(): Promise<readonly string[]> {
  const applied = await migrate(database, "up", { migrations: shopMigrations });
  await defineRoles();
  return applied;
}
