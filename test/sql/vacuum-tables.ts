import { type Kysely, sql } from "kysely";
import { vi } from "vitest";

/**
 * Measures tables of PostgreSQL, and repeats that until every page is marked as visible to all. A transaction of another test can
 * keep a page from that, and the planner then expects to read it in addition to the index.
 */
export async function vacuumTables(database: Kysely<any>, ...names: readonly string[]): Promise<void> {
  const areMarked = async (): Promise<boolean> => {
    await sql.raw(`vacuum analyze ${names.join(", ")}`).execute(database);
    const { rows } = await sql`
      select relname::text from pg_class
      where oid in (${sql.join(names.map((name) => sql`to_regclass(${name})`))}) and relallvisible < relpages`.execute(
      database,
    );
    return rows.length === 0;
  };
  await vi.waitUntil(areMarked, { interval: 250, timeout: 60_000 });
}
