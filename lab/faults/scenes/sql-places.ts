import { Client } from "pg";
import { fillUsers } from "../../failover/fill-users.ts";
import { OwnMariaDb } from "../../servers/own-maria-db.ts";
import { type OwnPostgres, ownPostgres } from "../../servers/own-postgres.ts";
import { PgBouncer } from "../../servers/pgbouncer.ts";
import { TcpProxy } from "../../servers/tcp-proxy.ts";
import type { Place } from "./behind-proxy.ts";

const CONNECTIONS = 30;
const ROWS = "select id from things";

export async function postgresPlace(): Promise<Place<OwnPostgres>> {
  const server = await startPostgres();
  const proxy = await TcpProxy.start(Number(new URL(server.url).port));
  return {
    server,
    proxy,
    settings: { database: proxy.through(server.url) },
    restart: () => restartPostgres(server),
    rows: () => rowsOf(server.url),
    remove: () => server.remove(),
  };
}

/** The database has users, who sign in with passwords and place orders. */
export async function shopPlace(): Promise<Place<OwnPostgres>> {
  const place = await postgresPlace();
  await fillUsers(place.server.url);
  return { ...place, settings: { ...place.settings, isShop: true } };
}

/** The server is a replica, and its primary has no fault. */
export async function replicaPlace(): Promise<Place<OwnPostgres>> {
  const primary = await startPostgres();
  const server = await ownPostgres(["-c", `max_connections=${CONNECTIONS}`], primary);
  const proxy = await TcpProxy.start(Number(new URL(server.url).port));
  return {
    server,
    proxy,
    settings: { database: primary.url, replica: proxy.through(server.url) },
    restart: () => {},
    rows: () => rowsOf(primary.url),
    remove: async () => {
      await server.remove();
      await primary.remove();
    },
  };
}

/** The pooler has its own PostgreSQL. */
export async function poolerPlace(mode: "session" | "transaction" = "session"): Promise<Place<PgBouncer>> {
  const postgres = await startPostgres();
  const target = `host=127.0.0.1 port=${new URL(postgres.url).port} dbname=postgres user=root`;
  const server = await PgBouncer.start(mode, "public", { target, clients: CONNECTIONS });
  const proxy = await TcpProxy.start(Number(new URL(server.url).port));
  return {
    server,
    proxy,
    settings: { database: proxy.through(server.url) },
    restart: () => {},
    rows: () => rowsOf(postgres.url),
    remove: async () => {
      await server.remove();
      await postgres.remove();
    },
  };
}

export async function mariaPlace(): Promise<Place<OwnMariaDb>> {
  const server = await OwnMariaDb.start();
  const proxy = await TcpProxy.start(server.port);
  return {
    server,
    proxy,
    settings: { database: proxy.through(server.url) },
    restart: async () => {
      if (!server.isRunning) await server.start();
    },
    rows: async () => (await server.query(ROWS)).map(({ id }) => Number(id)),
    remove: () => server.remove(),
  };
}

/** Runs statements in one database of a server. */
export async function onPostgres(url: string, database: string, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: Object.assign(new URL(url), { pathname: `/${database}` }).href });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** An open connection to PostgreSQL or to a pooler. */
export async function connectTo(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return client;
}

function startPostgres(): Promise<OwnPostgres> {
  return ownPostgres(["-c", `max_connections=${CONNECTIONS}`, "-c", "wal_level=replica"]);
}

async function restartPostgres(server: OwnPostgres): Promise<void> {
  await rowsOf(server.url).catch(() => server.start());
}

async function rowsOf(url: string): Promise<readonly number[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<{ id: number }>(ROWS)).rows.map(({ id }) => id);
  } finally {
    await client.end();
  }
}
