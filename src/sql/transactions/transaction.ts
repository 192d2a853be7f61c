import type { Dependency } from "../../dependencies/depend.ts";
import { Depend } from "../../kernel/context/depend.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { Attempt } from "../../kernel/idempotency/attempt.ts";
import { noteResponseStore } from "../../kernel/idempotency/idempotent.ts";
import type { Database, Transaction, TransactionSettings } from "../database/database.ts";
import { sqlResponses } from "./sql-responses.ts";

/**
 * A dependency that is a transaction of the request or operation. It is committed after the handler or the last field, and before
 * the response is sent, so that a failed commit is reported to the client. A failed request or operation rolls it back. All fields
 * of an operation that depend on the result of one call share one transaction.
 *
 * A route or a mutation with `idempotent` stores its response in it, for requests with an idempotency key.
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
  const open = async function* inTransaction({ ctx }: OpenedFor): AsyncGenerator<Transaction<DB>, void, void> {
    const attempt = Attempt.of(ctx, open);
    const trx = await database.begin(settings);
    try {
      await attempt?.claim(trx);
      yield trx;
    } finally {
      await (attempt === null ? trx.end(ctx.outcome) : attempt.end(trx, ctx.outcome));
    }
  };
  const dependency = Depend(open);
  noteResponseStore(dependency, () => sqlResponses(database));
  return dependency;
}

interface OpenedFor {
  readonly ctx: BaseContext;
}
