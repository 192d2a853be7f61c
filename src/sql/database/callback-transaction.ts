import type { Dependency } from "../../dependencies/depend.ts";
import { Depend } from "../../kernel/context/depend.ts";
import { holdingEvents } from "./open-transaction.ts";

/**
 * A dependency that is a transaction of another library, which ends it when a function does. The function waits for the
 * end of the request or operation. Events that are published meanwhile are held until the commit, and dropped after a
 * rollback.
 *
 * @param run calls the function with a transaction
 */
export function callbackTransaction<T>(run: (work: (tx: T) => Promise<void>) => Promise<unknown>): Dependency<T> {
  return Depend(async function* inTransaction({ ctx }) {
    const begun = Promise.withResolvers<T>();
    const ended = Promise.withResolvers<void>();
    const work = async (tx: T): Promise<void> => {
      begun.resolve(tx);
      await ended.promise;
    };
    const done = holdingEvents(() => run(work));
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
