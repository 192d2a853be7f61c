import { type DatabaseConnection, type Driver, PostgresDialect, PostgresDriver, type PostgresPool } from "kysely";
import type * as pg from "pg";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { outside } from "../../core/outside.ts";
import { currentContext } from "../../http/context/current-context.ts";
import { namedStatements } from "../named-statements.ts";
import type { Listen } from "./database.ts";
import { LateCursor, loadCursor } from "./late-cursor.ts";
import { isLost, isReadOnly, postgresError, unreachable } from "./postgres-error.ts";
import { WatchedClients } from "./watched-clients.ts";
import { boundEnd, type Pg, type WireClient } from "./wire-client.ts";

export interface PostgresOptions {
  readonly connectionString: string;
  readonly poolSize: number;
  readonly timeoutMs: number;
  /** How long a statement may run; 0 disables the deadline. */
  readonly deadlineMs: number;
  readonly namedStatements: boolean;
}

/** PostgreSQL through `pg`, which is loaded by the first statement. If the server is down, errors have status 503. */
export class ReachablePostgres extends PostgresDialect {
  readonly #options: PostgresOptions;
  #hasRefusedWrites = false;

  constructor(options: PostgresOptions) {
    super({ pool: () => Promise.reject(new Error("the driver opens the pool")) });
    this.#options = options;
  }

  /** Whether a statement was rejected because the server is read-only. */
  get hasRefusedWrites(): boolean {
    return this.#hasRefusedWrites;
  }

  override createDriver(): Driver {
    return new ReachablePostgresDriver(this.#options, () => {
      this.#hasRefusedWrites = true;
    });
  }
}

class ReachablePostgresDriver extends PostgresDriver {
  readonly #known = new WeakSet<DatabaseConnection>();
  /** The connections in a transaction that the application itself made read-only. */
  readonly #reading = new WeakSet<DatabaseConnection>();
  readonly #opened: { clients: WatchedClients | null };
  readonly #onReadOnly: () => void;

  constructor(options: PostgresOptions, onReadOnly: () => void) {
    const opened: { clients: WatchedClients | null } = { clients: null };
    const pool = async (): Promise<PostgresPool> => {
      const pg = await loadPg();
      opened.clients = new WatchedClients(pg, options);
      const pool = openPool(pg, options, opened.clients);
      return options.namedStatements ? namedStatements(pool) : pool;
    };
    super({ pool, cursor: LateCursor });
    this.#opened = opened;
    this.#onReadOnly = onReadOnly;
  }

  override async acquireConnection(
    ...args: Parameters<PostgresDriver["acquireConnection"]>
  ): ReturnType<PostgresDriver["acquireConnection"]> {
    const began = performance.now();
    // The pool is opened outside the request, because its connections and timers would otherwise keep the request in
    // memory.
    const connection = await outside(() => super.acquireConnection(...args)).catch((error: unknown) => {
      throw error instanceof ConfigurationError ? error : unreachable(error);
    });
    // Requests that wait for the pool are the first sign of overload.
    currentContext()?.services.load.waited(performance.now() - began);
    if (this.#known.has(connection)) return connection;
    this.#known.add(connection);
    const execute = connection.executeQuery.bind(connection);
    const stream = connection.streamQuery.bind(connection);
    const told = (error: unknown): unknown => this.#told(connection, error);
    // Kysely's own log option works in the same way.
    connection.executeQuery = (...args) =>
      (execute(...args) as Promise<never>).catch((error: unknown) => {
        throw told(error);
      });
    connection.streamQuery = async function* (...args): AsyncIterableIterator<never> {
      await loadCursor();
      try {
        yield* stream(...args) as AsyncIterableIterator<never>;
      } catch (error) {
        throw told(error);
      }
    };
    return connection;
  }

  override async beginTransaction(...args: Parameters<PostgresDriver["beginTransaction"]>): Promise<void> {
    const [connection, { accessMode }] = args;
    if (accessMode === "read only") this.#reading.add(connection);
    else this.#reading.delete(connection);
    await super.beginTransaction(...args);
  }

  /** A lost connection needs no rollback, because the server rolls back when it notices. */
  override async rollbackTransaction(...args: Parameters<PostgresDriver["rollbackTransaction"]>): Promise<void> {
    await super.rollbackTransaction(...args).catch((error: unknown) => {
      if (!isLost((error as { readonly cause?: unknown }).cause ?? error)) throw error;
    });
  }

  override releaseConnection(
    ...args: Parameters<PostgresDriver["releaseConnection"]>
  ): ReturnType<PostgresDriver["releaseConnection"]> {
    this.#reading.delete(args[0]);
    return outside(() => super.releaseConnection(...args));
  }

  override async destroy(): Promise<void> {
    const ending = super.destroy();
    await (this.#opened.clients?.cutWhile(ending) ?? ending);
  }

  #told(connection: DatabaseConnection, error: unknown): unknown {
    if (!isReadOnly(error)) return postgresError(error);
    if (this.#reading.has(connection)) return error;
    // The server was the primary when we connected. A new connection to its host name may reach the current primary.
    this.#opened.clients?.renew();
    this.#onReadOnly();
    return postgresError(error);
  }
}

/** The listening connections. */
export function postgresListen({ connectionString, timeoutMs }: PostgresOptions): Listen {
  return async (channel, onMessage) => {
    const { Client } = await loadPg();
    const client: pg.Client = new Client({
      connectionString,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    });
    boundEnd(client as unknown as WireClient);
    const ended = new Promise<unknown>((resolve) => {
      client.on("error", resolve);
      client.on("end", () => resolve(new Error("the connection was closed")));
    });
    client.on("notification", ({ payload }) => onMessage(payload ?? ""));
    try {
      await client.connect();
      await client.query(`listen ${client.escapeIdentifier(channel)}`);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    const { connection } = client as unknown as { readonly connection: { readonly stream: { destroy(): void } } };
    return { ended, close: () => client.end().catch(() => {}), cut: () => connection.stream.destroy() };
  };
}

function openPool({ Pool }: Pg, options: PostgresOptions, clients: WatchedClients): pg.Pool {
  const { connectionString, poolSize, timeoutMs } = options;
  const pool = new Pool({
    connectionString,
    max: poolSize,
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    // Not a connection parameter, because proxies reject those. The pool waits for the promise.
    onConnect: (client) => clients.open(client as WireClient, Math.ceil(timeoutMs)) as unknown as void,
  });
  // Without these listeners, a lost server would end this process. The pool removes the connection by itself, and
  // statements that wait for a response on it fail with the error.
  pool.on("error", () => {});
  pool.on("connect", (client) => void client.on("error", () => {}));
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  const connectFresh = async (): Promise<pg.PoolClient> => {
    const client = await connect();
    if (!clients.isStale(client)) return client;
    client.release(true);
    return connectFresh();
  };
  return Object.assign(pool, { connect: connectFresh });
}

/** After this time without traffic, the kernel probes the connection. The system default is two hours. */
const KEEP_ALIVE_MS = 10_000;

async function loadPg(): Promise<Pg> {
  try {
    return (await import("pg")).default;
  } catch (cause) {
    const error = new ConfigurationError(
      "openDatabase.url",
      'requires the package "pg" for PostgreSQL: run npm install pg',
    );
    throw Object.assign(error, { cause });
  }
}
