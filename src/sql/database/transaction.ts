import type { Dependency } from "../../dependencies/depend.ts";
import { Depend } from "../../kernel/context/depend.ts";
import type { Database, Transaction, TransactionSettings } from "./database.ts";

/**
 * A dependency that is a transaction of the request or operation. It is committed after the handler or the last field, and before
 * the response is sent, so that a failed commit is reported to the client. A failed request or operation rolls it back. All fields
 * of an operation that depend on the result of one call share one transaction.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { openDatabase, transaction } from "portico/sql";
 *
 * const database = openDatabase("sqlite::memory:");
 * const inTransaction = transaction(database);
 *
 * new PorticoApp().delete("/users/:id", { params: { trx: inTransaction } }, async ({ trx, path }) => {
 *   await trx.deleteFrom("users").where("id", "=", path.id).execute();
 *   trx.afterCommit(() => console.log(`deleted ${path.id}`));
 * });
 * ```
 */
export function transaction<DB>(database: Database<DB>, settings?: TransactionSettings): Dependency<Transaction<DB>> {
  return Depend(async function* inTransaction({ ctx }) {
    const trx = await database.begin(settings);
    try {
      yield trx;
    } finally {
      await trx.end(ctx.outcome);
    }
  });
}
