import { type RawBuilder, sql } from "kysely";
import type { Database } from "../database/database.ts";

/** The database's clock, in milliseconds since 1970. All processes use this one clock. */
export function databaseTime({ engine }: Database): RawBuilder<number> {
  return engine === "postgres"
    ? sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
}
