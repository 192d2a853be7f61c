import { setTimeout as sleep } from "node:timers/promises";
import { NAMES, PASSWORD } from "../../failover/fill-users.ts";
import { ownPostgres } from "../../servers/own-postgres.ts";
import { SmallDisk } from "../../servers/small-disk.ts";
import type { TcpProxy } from "../../servers/tcp-proxy.ts";
import type { AppProcess } from "../app-process.ts";
import type { Cell, Seen } from "../cell.ts";
import { type Reached, sceneOf, tcpCells } from "../scenes/behind-proxy.ts";
import { keepTaking } from "../scenes/keep-taking.ts";
import { connectTo, onPostgres, poolerPlace, postgresPlace, replicaPlace, shopPlace } from "../scenes/sql-places.ts";

/** More than an account has in a quarter of an hour. */
const ATTEMPTS = 15;
const MOMENT_MS = 100;

const nothing: Seen = {};
const noDatabase: Seen = {
  probes: { read: 503, write: 503 },
  ready: 503,
  checks: ["database", "writes"],
  log: "The database is unreachable",
  doctor: "failed database",
};
/** The primary serves the reads. */
const noReplica: Seen = {
  metrics: ["portico_db_replica_up 0"],
  log: "a replica was left out",
  doctor: "warning replicas",
};

export const sqlCells: readonly Cell[] = [
  ...tcpCells("PostgreSQL", postgresPlace, {
    gone: noDatabase,
    frozen: noDatabase,
    slow: nothing,
    partitioned: noDatabase,
    flapping: nothing,
    "answering wrongly": noDatabase,
  }),
  {
    resource: "PostgreSQL",
    fault: "full",
    sees: noDatabase,
    start: sceneOf(postgresPlace, crowd),
  },
  {
    resource: "PostgreSQL",
    fault: "full",
    how: "disk",
    sees: {
      probes: { write: 503 },
      checks: ["writes"],
      log: "No space left on device",
      blind: "`doctor` writes too little to notice",
    },
    start: async () => {
      const place = await postgresPlace();
      const disk = await SmallDisk.under(place.server.url);
      if (disk === null) throw new Error("only a user that may mount a disk can run this cell");
      const remove = async (): Promise<void> => {
        await place.remove();
        disk.remove();
      };
      return sceneOf(
        async () => ({ ...place, remove }),
        () => {
          disk.fill();
          return () => disk.free();
        },
      )();
    },
  },
  {
    resource: "PostgreSQL",
    fault: "refusing",
    sees: noDatabase,
    start: sceneOf(postgresPlace, async ({ server }) => {
      await onPostgres(server.url, "template1", "alter database postgres allow_connections false", DISCONNECT);
      return () => onPostgres(server.url, "template1", "alter database postgres allow_connections true");
    }),
  },
  {
    resource: "PostgreSQL",
    fault: "answering wrongly",
    how: "read-only, as a demoted primary",
    sees: {
      probes: { write: 503 },
      ready: 503,
      checks: ["database", "writes"],
      log: "The database is read-only",
      doctor: "failed writes",
    },
    start: sceneOf(postgresPlace, ({ server }) =>
      onPostgres(server.url, "postgres", "alter database postgres set default_transaction_read_only = on", DISCONNECT),
    ),
  },
  {
    resource: "PostgreSQL",
    fault: "flapping",
    how: "while a user tries to sign in",
    sees: nothing,
    start: sceneOf(shopPlace, async ({ proxy }, app) => {
      proxy.refuse();
      const during: number[] = [];
      for (let count = 0; count < ATTEMPTS; count++) during.push(await signIn(app));
      proxy.endRefusal();
      if (during.some((status) => status !== 503)) throw new Error(`sign-ins got ${during.join()} in the outage`);
      while ((await app.request("/read")).status !== 200) await sleep(MOMENT_MS);
      const after = await signIn(app);
      if (after !== 200) throw new Error(`the right password got ${after} after the outage`);
    }),
  },

  ...tcpCells("PostgreSQL replica", replicaPlace, {
    gone: noReplica,
    frozen: noReplica,
    slow: nothing,
    partitioned: noReplica,
    flapping: nothing,
    refusing: noReplica,
    "answering wrongly": noReplica,
  }),
  {
    resource: "PostgreSQL replica",
    fault: "full",
    sees: noReplica,
    start: sceneOf(replicaPlace, crowd),
  },
  {
    resource: "PostgreSQL replica",
    fault: "answering wrongly",
    how: "of another primary",
    sees: noReplica,
    start: async () => {
      const other = await ownPostgres();
      const place = await replicaPlace();
      const proxy = place.proxy as TcpProxy;
      const remove = async (): Promise<void> => {
        await place.remove();
        await other.remove();
      };
      return sceneOf(
        async () => ({ ...place, remove }),
        () => proxy.redirect(Number(new URL(other.url).port)),
      )();
    },
  },
  {
    resource: "PostgreSQL replica",
    fault: "slow",
    how: "applying changes",
    sees: noReplica,
    start: sceneOf(replicaPlace, ({ server }) => onPostgres(server.url, "postgres", "select pg_wal_replay_pause()")),
  },

  ...tcpCells("PgBouncer", poolerPlace, {
    gone: noDatabase,
    frozen: noDatabase,
    slow: nothing,
    partitioned: noDatabase,
    flapping: nothing,
    "answering wrongly": noDatabase,
  }),
  {
    resource: "PgBouncer",
    fault: "full",
    sees: noDatabase,
    start: sceneOf(poolerPlace, crowd),
  },
  {
    resource: "PgBouncer",
    fault: "refusing",
    sees: noDatabase,
    start: sceneOf(poolerPlace, async ({ server, proxy }) => {
      await onPostgres(server.console, "pgbouncer", "disable test");
      proxy.reset();
    }),
  },
  {
    resource: "PgBouncer",
    fault: "answering wrongly",
    how: "losing named statements, in transaction mode",
    sees: { log: "loses named statements", doctor: "warning pooler" },
    start: sceneOf(
      () => poolerPlace("transaction"),
      async (_reached, app) => {
        for (let count = 0; count < 20; count++)
          await Promise.all(Array.from({ length: 8 }, () => app.request("/read")));
      },
    ),
  },
];

async function signIn(app: AppProcess): Promise<number> {
  const body = JSON.stringify({ identifier: NAMES[0], password: PASSWORD });
  const headers = { "content-type": "application/json" };
  return (await app.request("/account/login", { method: "POST", headers, body })).status;
}

/** Takes all connections, also those that the application had, and each one that becomes free. */
async function crowd({ server, proxy }: Reached<{ readonly url: string }>): Promise<() => Promise<unknown>> {
  return keepTaking(
    () => connectTo(server.url),
    (client) => client.end(),
    () => proxy.reset(),
  );
}

const DISCONNECT =
  "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'";
