import type { PorticoConfig } from "portico";
import { roles } from "./src/accounts/roles.ts";
import { User } from "./src/accounts/user.ts";
import { database } from "./src/database.ts";
import { shopMigrations } from "./src/migrations/shop-migrations.ts";

/** Describes the shop to the command `portico`. */
export default {
  // Only commands that need the application import it, so that the others start faster.
  app: async () => (await import("./src/app.ts")).bookshop(),
  database,
  users: User,
  migrations: shopMigrations,
  roles,
} satisfies PorticoConfig;
