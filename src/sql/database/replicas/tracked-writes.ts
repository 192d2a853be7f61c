import type { AccessMode, DatabaseConnection } from "kysely";
import { currentContext } from "../../../kernel/context/current-context.ts";
import { statementKind } from "../postgres/statement-kind.ts";
import { type WalPosition, writtenPosition } from "./wal-position.ts";
import type { WritePositions } from "./write-positions.ts";

/** Recognises the statements of a driver that write for a request, and records the position of each. */
export class TrackedWrites {
  readonly #positions: WritePositions;
  /** The connections in a transaction, with whether it may write. */
  readonly #open = new WeakMap<DatabaseConnection, boolean>();
  /** The connections that have written outside a transaction. */
  readonly #made = new WeakMap<DatabaseConnection, WalPosition | null>();
  /** How to read the position over a connection, without telling listeners for statements. */
  readonly #readers = new WeakMap<DatabaseConnection, () => Promise<WalPosition>>();

  constructor(positions: WritePositions) {
    this.#positions = positions;
  }

  /** Tracks the statements of a new connection. */
  track(connection: DatabaseConnection): void {
    const execute = connection.executeQuery.bind(connection);
    const stream = connection.streamQuery.bind(connection);
    this.#readers.set(connection, () => writtenPosition(execute));
    const begin = (text: string): boolean => this.#begin(connection, text);
    const note = (): Promise<void> => this.#note(connection);
    connection.executeQuery = async (...args) => {
      const isWrite = begin(args[0].sql);
      try {
        return (await execute(...args)) as never;
      } finally {
        // If the connection was lost, the server may have written.
        if (isWrite) await note();
      }
    };
    connection.streamQuery = async function* (...args): AsyncIterableIterator<never> {
      const isWrite = begin(args[0].sql);
      try {
        yield* stream(...args) as AsyncIterableIterator<never>;
      } finally {
        // The rows are written even if the caller stops reading them.
        if (isWrite) await note();
      }
    };
  }

  /** A transaction has begun on the connection. */
  begun(connection: DatabaseConnection, accessMode: AccessMode | undefined): void {
    this.#open.set(connection, accessMode !== "read only");
  }

  /**
   * Its transaction was committed, or the connection was lost meanwhile. It counts as a write in any case, because a `select`
   * may call a function that writes. The connection is held meanwhile, as by any statement inside a transaction.
   */
  async committed(connection: DatabaseConnection): Promise<void> {
    const mayWrite = this.#open.get(connection);
    const ctx = currentContext();
    this.#open.delete(connection);
    if (mayWrite !== true || ctx === null) return;
    this.#positions.begin(ctx);
    await this.#positions.record(await this.#position(connection));
  }

  /**
   * Returns what to do once the connection is back in the pool. The store may need a connection of the same pool, which callers
   * that each hold one would wait for in vain.
   */
  released(connection: DatabaseConnection): () => Promise<void> {
    this.#open.delete(connection);
    const position = this.#made.get(connection);
    this.#made.delete(connection);
    return async () => {
      if (position !== undefined) await this.#positions.record(position);
    };
  }

  /** Returns whether the statement writes for the current request. */
  #begin(connection: DatabaseConnection, text: string): boolean {
    const ctx = currentContext();
    if (ctx === null || !this.#isWrite(connection, text)) return false;
    this.#positions.begin(ctx);
    return true;
  }

  #isWrite(connection: DatabaseConnection, text: string): boolean {
    const kind = statementKind(text);
    // The driver itself ends a transaction that it has begun.
    if (kind === "end") return !this.#open.has(connection);
    return kind === "write" && !BEGINNING.test(text) && !OF_STORES.test(text);
  }

  async #note(connection: DatabaseConnection): Promise<void> {
    if (!this.#open.has(connection)) this.#made.set(connection, await this.#position(connection));
  }

  async #position(connection: DatabaseConnection): Promise<WalPosition | null> {
    return (
      (await this.#readers
        .get(connection)?.()
        .catch(() => null)) ?? null
    );
  }
}

/** The start of a transaction or a savepoint. */
const BEGINNING = /^\s*(?:begin|start|savepoint)\b/i;
/** The stores of `sqlStores` write for almost every request, and no list reads their tables. */
const OF_STORES = /^\s*(?:insert\s+into|update|delete\s+from)\s+"?portico_(?:entries|counters)\b/i;
