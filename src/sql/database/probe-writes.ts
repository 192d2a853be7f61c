import { Kysely, sql } from "kysely";
import { unavailable } from "../../core/unavailable.ts";
import type { Database } from "./database.ts";

/** Rejects if the database accepts no writes. It changes nothing that an application can see, and needs no table. */
export async function probeWrites(kysely: Kysely<any>, engine: Database["engine"]): Promise<void> {
  if (engine === "postgres") {
    // A standby rejects the transaction id, which every write needs.
    const { rows } = await sql<{ isOn: boolean }>`
      select current_setting('transaction_read_only') = 'on' as "isOn", txid_current()`.execute(kysely);
    if (rows[0]?.isOn === true) throw unavailable("The database is read-only");
    return;
  }
  // SQLite writes the page of this number even if it stays the same. The transaction keeps other processes from changing it.
  const transaction = Kysely.prototype.transaction.call(kysely);
  await transaction.execute(async (trx) => {
    const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(trx);
    await sql`pragma user_version = ${sql.lit(Number(rows[0]?.user_version))}`.execute(trx);
  });
}
