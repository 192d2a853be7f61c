import { sql } from "kysely";
import type { Database } from "./database.ts";

/** The name and the version of the server, such as `PostgreSQL 17.2`. */
export async function databaseVersion(database: Database): Promise<string> {
  if (database.engine === "sqlite") {
    const { rows } = await sql<{ version: string }>`select sqlite_version() as version`.execute(database);
    return `SQLite ${rows[0]?.version}`;
  }
  const { rows } = await sql<{ version: string }>`select current_setting('server_version') as version`.execute(
    database,
  );
  // Distributions add their own version in parentheses.
  return `PostgreSQL ${rows[0]?.version.replace(/ .*/, "")}`;
}
