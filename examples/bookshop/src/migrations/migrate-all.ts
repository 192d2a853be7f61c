import { migrate } from "portico/sql";
import { defineRoles } from "../accounts/user.ts";
import { database } from "../database.ts";
import { shopMigrations } from "./shop-migrations.ts";

/** Brings all tables up to date, Portico's and then the shop's; then the roles. Gives the names of what it did. */
export async function migrateAll(): Promise<readonly string[]> {
  const applied = await migrate(database, "up", { migrations: shopMigrations });
  await defineRoles();
  return applied;
}
