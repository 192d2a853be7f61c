import { sql } from "kysely";
import type { Database } from "./database.ts";

/** Whether a table exists where statements look for it. A statement that fails would end a PostgreSQL transaction. */
export async function hasTable(database: Database, table: string): Promise<boolean> {
  const query =
    database.engine === "postgres"
      ? sql<{ found: unknown }>`select to_regclass(${table})::text as found`
      : sql<{
          found: unknown;
        }>`select (select name from sqlite_master where type = 'table' and name = ${table}) as found`;
  const { rows } = await query.execute(database);
  return (rows[0]?.found ?? null) !== null;
}
