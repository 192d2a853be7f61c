import type { PorticoConfig } from "portico";
import { User } from "./src/accounts/user.ts";
import { database } from "./src/database.ts";
import { migrations } from "./src/migrations/migrations.ts";

/** Describes the application to the `portico` command. */
export default {
  // Imported when a command needs the application, so that the others start faster.
  app: async () => (await import("./src/app.ts")).api(),
  database,
  users: User,
  migrations,
} satisfies PorticoConfig;
