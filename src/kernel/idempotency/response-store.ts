/** The key of a request, and the caller who chose it. */
export interface KeyPlace {
  /** The identity of the caller. */
  readonly caller: string;
  readonly key: string;
}

/** A transaction in which responses can be stored, as `transaction(database)` of `portico/sql` makes it. */
export interface KeepingTransaction {
  end(outcome: "pending" | "success" | "failure"): Promise<void>;
  afterCommit(work: () => unknown): void;
}

/** A response in the store, sealed. */
export interface StoredResponse {
  readonly sealed: Uint8Array;
  /** Whether the access of its caller may have changed since the request began. */
  readonly isOutdated: boolean;
}

/** The table of responses, in the database of the transactions that the responses are about. */
export interface ResponseStore {
  /** The requests that this process works on, by their place. Those with the same key wait for the result: see `doOnce`. */
  readonly running: Map<string, Promise<Uint8Array | null>>;
  /** Rejects with `ConfigurationError` if the table is missing. */
  check(): Promise<void>;
  /** The response to an earlier request with the key, if that one was committed. */
  find(place: KeyPlace): Promise<StoredResponse | null>;
  /** Whether no transaction holds the key. */
  isFree(place: KeyPlace): Promise<boolean>;
  /**
   * Takes the key until the transaction ends, as its first statement. Returns `false` at once if another transaction has it, or if
   * it was used before.
   */
  claim(trx: KeepingTransaction, place: KeyPlace, keepMs: number): Promise<boolean>;
  /** Stores the response, which becomes visible with the work of the transaction. */
  keep(trx: KeepingTransaction, place: KeyPlace, sealed: Uint8Array): Promise<void>;
  /** Notes that the access of a user has changed, or that of any user (`null`), so that earlier responses are not sent again. */
  accessChanged(user: string | null): Promise<void>;
}
