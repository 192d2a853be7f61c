import { type DatabaseConnection, type Driver, PostgresDialect, PostgresDriver, type PostgresPool } from "kysely";
import type * as pg from "pg";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { PorticoError } from "../../core/error.ts";
import { outside } from "../../core/outside.ts";
import { namedStatements } from "../named-statements.ts";
import type { Listen } from "./database.ts";
import { LateCursor, loadCursor } from "./postgres-cursor.ts";

export interface PostgresOptions {
  readonly connectionString: string;
  readonly poolSize: number;
  readonly timeoutMs: number;
  readonly namedStatements: boolean;
}

/** PostgreSQL by `pg`, which is loaded with the first statement. A server that is away is an error with status 503. */
export function postgresDialect(options: PostgresOptions): PostgresDialect {
  const pool = async (): Promise<PostgresPool> => {
    const pool = await openPool(options);
    return options.namedStatements ? namedStatements(pool) : pool;
  };
  return new ReachablePostgres({ pool, cursor: LateCursor });
}

class ReachablePostgres extends PostgresDialect {
  readonly #config: ConstructorParameters<typeof PostgresDialect>[0];
  constructor(config: ConstructorParameters<typeof PostgresDialect>[0]) {
    super(config);
    this.#config = config;
  }
  override createDriver(): Driver {
    return new ReachablePostgresDriver(this.#config);
  }
}

class ReachablePostgresDriver extends PostgresDriver {
  readonly #known = new WeakSet<DatabaseConnection>();

  override async acquireConnection(
    ...args: Parameters<PostgresDriver["acquireConnection"]>
  ): ReturnType<PostgresDriver["acquireConnection"]> {
    // Outside: a connection of the pool, and its timers, would hold the request that has opened it for as long as they live.
    const connection = await outside(() => super.acquireConnection(...args)).catch((error: unknown) => {
      throw error instanceof ConfigurationError ? error : unreachable(error);
    });
    if (this.#known.has(connection)) return connection;
    this.#known.add(connection);
    const execute = connection.executeQuery.bind(connection);
    const stream = connection.streamQuery.bind(connection);
    // Kysely itself puts its log here in the same way.
    connection.executeQuery = (...args) =>
      (execute(...args) as Promise<never>).catch((error: unknown) => {
        throw readable(error);
      });
    connection.streamQuery = async function* (...args): AsyncIterableIterator<never> {
      await loadCursor();
      try {
        yield* stream(...args) as AsyncIterableIterator<never>;
      } catch (error) {
        throw readable(error);
      }
    };
    return connection;
  }

  override releaseConnection(
    ...args: Parameters<PostgresDriver["releaseConnection"]>
  ): ReturnType<PostgresDriver["releaseConnection"]> {
    return outside(() => super.releaseConnection(...args));
  }
}

/** Connections that listen, one each. */
export function postgresListen({ connectionString, timeoutMs }: PostgresOptions): Listen {
  return async (channel, onMessage) => {
    const { Client } = await loadPg();
    const client: pg.Client = new Client({ connectionString, connectionTimeoutMillis: timeoutMs, keepAlive: true });
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

async function openPool({ connectionString, poolSize, timeoutMs }: PostgresOptions): Promise<pg.Pool> {
  const { Pool } = await loadPg();
  const pool = new Pool({
    connectionString,
    max: poolSize,
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
    // Not a parameter of the connection, which proxies refuse. The pool waits for the promise.
    onConnect: (client) => client.query(`set lock_timeout = ${Math.ceil(timeoutMs)}`) as unknown as void,
  });
  // Without listeners a server that goes away would end this process. The pool forgets the connection by itself, and what
  // was waiting for an answer on it gets the error.
  pool.on("error", () => {});
  pool.on("connect", (client) => void client.on("error", () => {}));
  return pool;
}

async function loadPg(): Promise<Pick<typeof pg, "Client" | "Pool">> {
  try {
    return (await import("pg")).default;
  } catch (cause) {
    const error = new ConfigurationError("openDatabase.url", 'needs the package "pg" for PostgreSQL: npm install pg');
    throw Object.assign(error, { cause });
  }
}

/** The error of a statement: what the server could not do for anybody has a status. */
function readable(error: unknown): unknown {
  if (isLost(error)) return unreachable(error);
  if (hasNul(error)) return unstorable(error);
  return hasWaitedForLock(error) ? busy(error) : error;
}

function unreachable(cause: unknown): PorticoError {
  return new PorticoError("SERVICE_UNAVAILABLE", "The database cannot be reached", {
    status: 503,
    headers: { "retry-after": "1" },
    cause,
  });
}

function busy(cause: unknown): PorticoError {
  return new PorticoError("SERVICE_UNAVAILABLE", "The database is busy: a lock was not given up in time", {
    status: 503,
    headers: { "retry-after": "1" },
    cause,
  });
}

/** Whether the time for a lock was over; a statement that asks not to wait has the same code, from another place. */
function hasWaitedForLock(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { readonly code?: unknown; readonly routine?: unknown };
  return code === "55P03" && routine === "ProcessInterrupts";
}

/** Whether the connection is gone: closed by the server (class 08, 57P01 to 57P03), or torn. */
function isLost(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code === "string" && /^(?:08\w{3}|57P0[1-3]|ECONN\w+|EPIPE|ETIMEDOUT)$/.test(code)) return true;
  return (
    typeof message === "string" &&
    /^(?:Connection terminated|Client has encountered a connection error|Client was closed)/.test(message)
  );
}

/** character_not_in_repertoire: of what a string of JavaScript can hold, PostgreSQL has no place for one character. */
function hasNul(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === "22021";
}

function unstorable(cause: unknown): PorticoError {
  return new PorticoError("BAD_REQUEST", "A text has a NUL character in it, which the database cannot hold", {
    status: 400,
    cause,
  });
}
