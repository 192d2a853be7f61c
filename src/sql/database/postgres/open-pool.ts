import type { PostgresPool } from "kysely";
import type * as pg from "pg";
import { ConfigurationError } from "../../../core/configuration-error.ts";
import { namedStatements } from "../../statements/named-statements.ts";
import type { Listen } from "../database.ts";
import type { PoolCounts } from "../pool-part.ts";
import { WatchedClients } from "./watched-clients.ts";
import { boundEnd, type Pg, type WireClient } from "./wire-client.ts";

/** A pool, and its connections if Portico opened it. */
export interface OpenPool {
  readonly pool: PostgresPool;
  readonly clients: WatchedClients | null;
  readonly counts: () => PoolCounts | null;
}

export interface PostgresOptions {
  readonly connectionString: string;
  readonly poolSize: number;
  readonly timeoutMs: number;
  /** How long a statement may run; 0 disables the deadline. */
  readonly deadlineMs: number;
  readonly namedStatements: boolean;
}

/** Returns how to open listening connections. */
export function postgresListen(config: pg.ClientConfig, timeoutMs: number): Listen {
  return async (channel, onMessage) => {
    const { Client } = await loadPg();
    // The password of a pool's options is not enumerable.
    const client: pg.Client = new Client(
      Object.assign(Object.create(config) as pg.ClientConfig, {
        connectionTimeoutMillis: timeoutMs,
        query_timeout: timeoutMs,
        keepAlive: true,
        keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      }),
    );
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

/** Opens a pool whose connections are watched. */
export async function openPool(options: PostgresOptions): Promise<OpenPool> {
  const { connectionString, poolSize, timeoutMs } = options;
  const pg = await loadPg();
  const clients = new WatchedClients(pg, options);
  const pool = new pg.Pool({
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
  pool.on("connect", (client) => {
    client.on("error", () => {});
  });
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  const connectFresh = async (): Promise<pg.PoolClient> => {
    const client = await connect();
    if (!clients.isStale(client)) return client;
    client.release(true);
    return connectFresh();
  };
  const counts = countsOf(pool);
  return { pool: named(Object.assign(pool, { connect: connectFresh }), options), clients, counts };
}

/** Uses the pool of an application, which sets its own deadlines and closes it. */
export function usePool(pool: PostgresPool, options: Pick<PostgresOptions, "namedStatements">): OpenPool {
  const heard = new WeakSet<object>();
  (pool as unknown as pg.Pool).on("error", () => {});
  const connect = async (): ReturnType<PostgresPool["connect"]> => {
    const client = await pool.connect();
    // While it is in use, a lost connection would end this process.
    if (!heard.has(client)) (client as unknown as pg.PoolClient).on("error", () => {});
    heard.add(client);
    return client;
  };
  const counts = countsOf(pool as unknown as pg.Pool);
  return { pool: named({ connect, end: async () => {}, options: pool.options }, options), clients: null, counts };
}

function countsOf(pool: pg.Pool): OpenPool["counts"] {
  return () => {
    const { totalCount, idleCount, waitingCount, options } = pool;
    // The pool of an application may be another implementation.
    if (totalCount === undefined) return null;
    return { used: totalCount - idleCount, idle: idleCount, max: options.max ?? totalCount, waiting: waitingCount };
  };
}

function named(pool: PostgresPool, options: Pick<PostgresOptions, "namedStatements">): PostgresPool {
  return options.namedStatements ? namedStatements(pool) : pool;
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
