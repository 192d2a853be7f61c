import { type DatabaseConnection, type Driver, PostgresDialect, PostgresDriver, type PostgresPool } from "kysely";
import { ConfigurationError } from "../../../core/configuration-error.ts";
import { isInstance } from "../../../core/describe-error.ts";
import { outsideRequest } from "../../../core/outside-request.ts";
import { reporting } from "../../../kernel/context/reporting.ts";
import type { PoolPart } from "../pool-part.ts";
import { LateCursor, loadCursor } from "../postgres/late-cursor.ts";
import type { OpenPool } from "../postgres/open-pool.ts";
import { isFull, isLost, isReadOnly, postgresError, unreachable } from "../postgres/postgres-error.ts";
import { statementKind } from "../postgres/statement-kind.ts";
import type { WatchedClients } from "../postgres/watched-clients.ts";
import type { TrackedWrites } from "../replicas/tracked-writes.ts";

/** PostgreSQL through `pg`. If the server is down, errors have status 503. */
export class ReachablePostgres extends PostgresDialect {
  readonly #open: () => Promise<OpenPool>;
  readonly #part: PoolPart;
  readonly #writes: TrackedWrites | null;
  #hasRefusedWrites = false;

  /**
   * @param open called by the first statement
   * @param writes tracks the writes of requests; `null` without replicas
   */
  constructor(open: () => Promise<OpenPool>, part: PoolPart, writes: TrackedWrites | null = null) {
    super({ pool: () => Promise.reject(new Error("the driver opens the pool")) });
    this.#open = open;
    this.#part = part;
    this.#writes = writes;
  }

  /** Whether a statement was rejected because the server is read-only. */
  get hasRefusedWrites(): boolean {
    return this.#hasRefusedWrites;
  }

  override createDriver(): Driver {
    return new ReachablePostgresDriver(this.#open, this.#part, this.#writes, () => {
      this.#hasRefusedWrites = true;
    });
  }
}

type Released = Parameters<PostgresDriver["releaseConnection"]>[0];

class ReachablePostgresDriver extends PostgresDriver {
  readonly #known = new WeakSet<DatabaseConnection>();
  /** The connections in a transaction that the application itself made read-only. */
  readonly #reading = new WeakSet<DatabaseConnection>();
  readonly #opened: { clients: WatchedClients | null };
  readonly #part: PoolPart;
  readonly #writes: TrackedWrites | null;
  readonly #onReadOnly: () => void;

  constructor(open: () => Promise<OpenPool>, part: PoolPart, writes: TrackedWrites | null, onReadOnly: () => void) {
    const opened: { clients: WatchedClients | null } = { clients: null };
    const pool = async (): Promise<PostgresPool> => {
      const { pool, clients, counts } = await open();
      opened.clients = clients;
      part.counts = counts;
      return pool;
    };
    super({ pool, cursor: LateCursor });
    this.#opened = opened;
    this.#part = part;
    this.#writes = writes;
    this.#onReadOnly = onReadOnly;
  }

  override async acquireConnection(
    ...args: Parameters<PostgresDriver["acquireConnection"]>
  ): ReturnType<PostgresDriver["acquireConnection"]> {
    const began = performance.now();
    // The pool is opened outside the request, because its connections and timers would otherwise keep the request in
    // memory.
    const connection = await outsideRequest(() => super.acquireConnection(...args)).catch((error: unknown) => {
      this.#part.waited(performance.now() - began, false);
      throw isInstance(error, ConfigurationError) ? error : unreachable(error);
    });
    try {
      return this.#watched(connection, performance.now() - began);
    } catch (error) {
      // The caller could never release it.
      await outsideRequest(() => super.releaseConnection(connection as Released));
      throw error;
    }
  }

  #watched(connection: DatabaseConnection, waitedMs: number): DatabaseConnection {
    // Requests that wait for the pool are the first sign of overload.
    reporting()?.load.waited(waitedMs);
    this.#part.waited(waitedMs, true);
    if (this.#known.has(connection)) return connection;
    this.#known.add(connection);
    const execute = connection.executeQuery.bind(connection);
    const stream = connection.streamQuery.bind(connection);
    const told = (error: unknown): unknown => this.#told(connection, error);
    // Kysely's own log option works in the same way.
    connection.executeQuery = (...args) => {
      if (!this.#part.hasWritten && !this.#reading.has(connection) && statementKind(args[0].sql) === "write")
        this.#part.writes();
      return (execute(...args) as Promise<never>).catch((error: unknown) => {
        throw told(error);
      });
    };
    connection.streamQuery = async function* (...args): AsyncIterableIterator<never> {
      await loadCursor();
      try {
        yield* stream(...args) as AsyncIterableIterator<never>;
      } catch (error) {
        throw told(error);
      }
    };
    this.#writes?.track(connection);
    return connection;
  }

  override async beginTransaction(...args: Parameters<PostgresDriver["beginTransaction"]>): Promise<void> {
    const [connection, { accessMode }] = args;
    if (accessMode === "read only") this.#reading.add(connection);
    else this.#reading.delete(connection);
    await super.beginTransaction(...args);
    this.#writes?.begun(connection, accessMode);
  }

  override async commitTransaction(...args: Parameters<PostgresDriver["commitTransaction"]>): Promise<void> {
    try {
      await super.commitTransaction(...args);
    } finally {
      await this.#writes?.committed(args[0]);
    }
  }

  /** A lost connection needs no rollback, because the server rolls back when it notices. */
  override async rollbackTransaction(...args: Parameters<PostgresDriver["rollbackTransaction"]>): Promise<void> {
    await super.rollbackTransaction(...args).catch((error: unknown) => {
      if (!isLost((error as { readonly cause?: unknown }).cause ?? error)) throw error;
    });
  }

  override async releaseConnection(...args: Parameters<PostgresDriver["releaseConnection"]>): Promise<void> {
    this.#reading.delete(args[0]);
    const recordWrites = this.#writes?.released(args[0]);
    await outsideRequest(() => super.releaseConnection(...args));
    await recordWrites?.();
  }

  override async destroy(): Promise<void> {
    const ending = super.destroy();
    await (this.#opened.clients?.cutWhile(ending) ?? ending);
  }

  #told(connection: DatabaseConnection, error: unknown): unknown {
    if (isFull(error)) this.#part.refused();
    if (!isReadOnly(error)) return postgresError(error);
    if (this.#reading.has(connection)) return error;
    // The server was the primary when we connected. A new connection to its host name may reach the current primary.
    this.#opened.clients?.renew();
    this.#onReadOnly();
    return postgresError(error);
  }
}
