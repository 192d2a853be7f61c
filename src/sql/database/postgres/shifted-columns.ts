import { sql } from "kysely";
import type { Database } from "../database.ts";

const MAX_NAMED = 5;

/**
 * The columns without a time zone (`timestamp`) whose times are read hours off: the driver takes them for times in the zone of this
 * process, which isn't UTC. A driver that reads them as UTC or as text shifts none.
 */
export async function shiftedColumns(database: Database): Promise<readonly string[]> {
  if (database.engine !== "postgres") return [];
  const { rows: read } = await sql<{ winter: unknown; summer: unknown }>`
    select timestamp '2026-01-15 12:00' as winter, timestamp '2026-07-15 12:00' as summer`.execute(database);
  if (!read.some(({ winter, summer }) => isShifted(winter, 0) || isShifted(summer, 6))) return [];
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns
    where data_type = 'timestamp without time zone' and table_schema not in ('pg_catalog', 'information_schema')
    order by name limit ${MAX_NAMED}`.execute(database);
  return rows.map(({ name }) => name);
}

function isShifted(time: unknown, month: number): boolean {
  return time instanceof Date && time.getTime() !== Date.UTC(2026, month, 15, 12);
}
