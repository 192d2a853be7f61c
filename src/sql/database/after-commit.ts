type Work = () => Promise<void>;

const transactions = new WeakMap<object, CommitWork>();

/** What is to be done when a transaction is committed, and never when it is not. */
export class CommitWork {
  readonly #outer: CommitWork | null;
  readonly #waiting: Work[] = [];

  /** @param outer that of the transaction around a savepoint: its end decides */
  constructor(outer: CommitWork | null) {
    this.#outer = outer;
  }

  /** From here on what is done after the commit of this transaction is kept here. */
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

/** Does something when the transaction is committed; at once where it is none. It must not reject. */
export async function afterCommit(database: object, work: Work): Promise<void> {
  const kept = transactions.get(database);
  if (kept === undefined) await work();
  else kept.add(work);
}
