import { sql } from "kysely";
import { preparedName } from "../../statements/prepared-name.ts";
import type { Database } from "../database.ts";
import { runNamed } from "../run-named.ts";

const USES = 4;
/** While other clients use the pooler, it gives this one any of its connections. */
const LOOKS = 50;

/**
 * Whether a pooler gives one connection to several clients without keeping their named statements apart: a statement that was
 * prepared over one connection of the pool exists on another.
 */
export async function losesStatements(database: Database): Promise<boolean> {
  const probe = sql`select 1 as portico_probe`;
  return database.connection().execute(async (held) => {
    for (let use = 0; use < USES; use++) await runNamed(held as unknown as Database, probe);
    const name = preparedName(probe.compile(database).sql) ?? "";
    for (let look = 0; look < LOOKS; look++) {
      // While the first connection is held, this one is another.
      const { rows } = await sql`select from pg_prepared_statements where name = ${name}`.execute(database);
      if (rows.length === 0) continue;
      await sql`deallocate ${sql.id(name)}`.execute(database).catch(() => {});
      return true;
    }
    return false;
  });
}
