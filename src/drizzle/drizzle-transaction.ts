import { type SQL, sql } from "drizzle-orm";
import type { Dependency } from "../dependencies/depend.ts";
import { callbackTransaction } from "../sql/database/callback-transaction.ts";

/** A Drizzle database with asynchronous transactions. */
export interface TransactingDatabase {
  transaction(work: (tx: any) => Promise<any>, settings?: any): Promise<any>;
}

/** The transactions of a Drizzle database. */
export type DrizzleTransaction<D extends TransactingDatabase> = Parameters<Parameters<D["transaction"]>[0]>[0];

/**
 * A dependency that is a Drizzle transaction of the request or operation. It is committed after the handler or the last
 * field, and before the response is sent. A failed request or operation rolls it back. Events that are published
 * meanwhile are held until the commit, and dropped after a rollback. Those of durable topics are written in the transaction.
 *
 * @param settings the second argument of `database.transaction`
 *
 * @example
 * ```ts
 * import { eq } from "drizzle-orm";
 * import { drizzle } from "drizzle-orm/node-postgres";
 * import { pgTable, uuid } from "drizzle-orm/pg-core";
 * import { PorticoApp } from "portico";
 * import { drizzleTransaction } from "portico/drizzle";
 *
 * const books = pgTable("books", { id: uuid().primaryKey() });
 * const inTransaction = drizzleTransaction(drizzle("postgres://localhost/shop"));
 *
 * new PorticoApp().delete("/books/:id", { params: { tx: inTransaction } }, async ({ tx, path }) => {
 *   await tx.delete(books).where(eq(books.id, path.id));
 * });
 * ```
 */
export function drizzleTransaction<D extends TransactingDatabase>(
  database: D,
  settings?: Parameters<D["transaction"]>[1],
): Dependency<DrizzleTransaction<D>> {
  return callbackTransaction(
    (work) => database.transaction(work, settings),
    (tx: Sender) => async (text, parameters) => {
      const statement = withParameters(text, parameters);
      // Drizzle on PostgreSQL has execute, and on SQLite all.
      const result = await (tx.execute?.(statement) ?? tx.all?.(statement));
      return (Array.isArray(result) ? result : (result as { readonly rows: readonly unknown[] }).rows).length;
    },
  );
}

/** The methods that send a statement. */
interface Sender {
  execute?(statement: SQL): Promise<unknown>;
  all?(statement: SQL): Promise<unknown>;
}

/** Writes the parameters into the statement, in their order, in the form that Drizzle expects. */
function withParameters(text: string, parameters: readonly unknown[]): SQL {
  const parts = text.split(/\$\d+|\?/);
  return sql.join(
    parts.flatMap((part, at) => (at === 0 ? [sql.raw(part)] : [sql`${parameters[at - 1]}`, sql.raw(part)])),
  );
}
