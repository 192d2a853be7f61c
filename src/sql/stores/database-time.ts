import { type RawBuilder, sql } from "kysely";
import type { Database } from "../database/database.ts";

/** The database's own clock, in milliseconds since 1970: of several processes none has a clock of its own. */
export function databaseTime({ engine }: Database): RawBuilder<number> {
  return engine === "postgres"
    ? sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
}
