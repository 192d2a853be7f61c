import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Database } from "../database/database.ts";

/** How long a process may be silent before another one takes its work over. */
export const LEASE_MS = 1_200;

/** The name of the lease of the relay. Its position is the last settled event. Consumers have the lease of their name. */
export const RELAY = "portico:relay";

/** The work that one process does for all of them, such as that of the relay. */
export class Leases {
  readonly #database: Database;
  /** The name of this process among the holders. */
  readonly #holder = randomBytes(9).toString("base64url");

  constructor(database: Database) {
    this.#database = database;
  }

  /** Creates a lease unless it exists. */
  async declare(name: string, position: number): Promise<void> {
    await sql`
      insert into portico_leases (name, holder, ends_ms, position) values (${name}, '', 0, ${position})
      on conflict (name) do nothing`.execute(this.#database);
  }

  /** Takes or renews leases, and returns the positions of those that this process now holds. */
  async renew(names: readonly string[], settled: number): Promise<ReadonlyMap<string, number>> {
    const isPostgres = this.#database.engine === "postgres";
    const now = this.#now;
    const among = isPostgres
      ? sql`select name from portico_leases where name = any(${names}::text[])
          and (holder = ${this.#holder} or ends_ms <= ${now}) order by name for update`
      : sql`select value from json_each(${JSON.stringify(names)})`;
    // The position of the relay is that of the holder before.
    const position = sql`case when name = ${RELAY} and position < ${big(settled)} then ${big(settled)} else position end`;
    const { rows } = await sql<{ name: string; position: number | string }>`
      update portico_leases set holder = ${this.#holder}, ends_ms = ${now} + ${sql.lit(LEASE_MS)}, position = ${position}
      where name in (${among}) and (holder = ${this.#holder} or ends_ms <= ${now}) returning name, position`.execute(
      this.#database,
    );
    return new Map(rows.map((row) => [row.name, Number(row.position)]));
  }

  /** The position of a lease that another process may hold. */
  async positionOf(name: string): Promise<number> {
    const { rows } = await sql<{ position: number | string }>`
      select position from portico_leases where name = ${name}`.execute(this.#database);
    return Number(rows[0]?.position ?? 0);
  }

  /** Ends the leases of this process, so that another one continues at once. */
  async release(names: readonly string[]): Promise<void> {
    for (const name of names)
      await sql`update portico_leases set ends_ms = 0 where name = ${name} and holder = ${this.#holder}`.execute(
        this.#database,
      );
  }

  /**
   * Moves the position of a lease, if it still has the expected one and this process still holds the lease. Otherwise, the process
   * was paused and another one has continued.
   *
   * @param connection the transaction of the work
   */
  async advance(connection: Database, name: string, from: number, to: number): Promise<boolean> {
    const { numAffectedRows } = await sql`
      update portico_leases set position = ${big(to)}
      where name = ${name} and position = ${big(from)} and holder = ${this.#holder}`.execute(connection);
    return numAffectedRows === 1n;
  }

  get #now(): ReturnType<typeof sql<number>> {
    return this.#database.engine === "postgres"
      ? sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`
      : sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
  }
}

/** PostgreSQL would compare a parameter with a number as text. */
function big(value: number): ReturnType<typeof sql> {
  return sql`cast(${value} as bigint)`;
}
