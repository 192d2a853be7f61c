import { loggable, toError } from "../../core/describe-error.ts";
import { currentContext } from "../../kernel/context/current-context.ts";

type Work = () => Promise<void>;

const transactions = new WeakMap<object, CommitWork>();

/** Work that runs when a transaction is committed, and never if it is rolled back. */
export class CommitWork {
  readonly #outer: CommitWork | null;
  readonly #waiting: Work[] = [];

  /** @param outer the work of the transaction around a savepoint, whose outcome decides */
  constructor(outer: CommitWork | null) {
    this.#outer = outer;
  }

  /** Collects the work of this transaction from now on. */
  keepFor(transaction: object): void {
    transactions.set(transaction, this);
  }

  add(work: Work): void {
    this.#waiting.push(work);
  }

  async run(): Promise<void> {
    if (this.#outer === null) for (const work of this.#waiting) await work();
    else for (const work of this.#waiting) this.#outer.add(work);
  }
}

/** Work of the application. Its error is logged, because the commit stands. */
export function contained(work: () => unknown): Work {
  const ctx = currentContext();
  return async () => {
    try {
      await work();
    } catch (error) {
      if (ctx === null) process.emitWarning(toError(error));
      else ctx.log.error({ err: loggable(error) }, "work after the commit of a transaction failed");
    }
  };
}

/** Runs work when the transaction is committed, or immediately if there is no transaction. It must not reject. */
export async function afterCommit(database: object, work: Work): Promise<void> {
  const kept = transactions.get(database);
  if (kept === undefined) await work();
  else kept.add(work);
}
