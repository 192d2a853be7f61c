import type { Dependency } from "../../dependencies/depend.ts";
import { Depend } from "../../kernel/context/depend.ts";
import type { RunStatement } from "../../stores/outbox.ts";
import { holdingEvents } from "./open-transaction.ts";

/**
 * A dependency that is a transaction of another library, which ends it when a function does. The function waits for the
 * end of the request or operation. Events that are published meanwhile are held until the commit, and dropped after a
 * rollback.
 *
 * @param run calls the function with a transaction
 * @param statementsOf runs the statement that writes events of durable topics in a transaction
 */
export function callbackTransaction<T>(
  run: (work: (tx: T) => Promise<void>) => Promise<unknown>,
  statementsOf: (tx: T) => RunStatement,
): Dependency<T> {
  return Depend(async function* inTransaction({ ctx }) {
    const begun = Promise.withResolvers<T>();
    const ended = Promise.withResolvers<void>();
    const done = holdingEvents((write) =>
      run(async (tx) => {
        begun.resolve(tx);
        await ended.promise;
        await write(statementsOf(tx));
      }),
    );
    done.catch(begun.reject);
    const tx = await begun.promise;
    try {
      yield tx;
    } finally {
      if (ctx.outcome === "success") ended.resolve();
      else ended.reject(ROLLBACK);
      await done.catch((error: unknown) => {
        if (error !== ROLLBACK) throw error;
      });
    }
  });
}

const ROLLBACK = new Error("The request failed, so its transaction is rolled back");
