import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { type Database, openDatabase } from "portico/sql";
import { expect, it, onTestFinished } from "vitest";
import { TcpProxy } from "../../../lab/servers/tcp-proxy.ts";

const POOL = 3;
const ROUNDS = 4;

// The pool would shrink with every round in which a connection is not returned.
it.each<[fault: string, strike: (proxy: TcpProxy) => void, repair: (proxy: TcpProxy) => void]>([
  ["resets", (proxy) => proxy.reset(), () => {}],
  ["half-closed connections", (proxy) => proxy.halfClose(), () => {}],
  ["silence", (proxy) => proxy.silence(), (proxy) => proxy.endSilence()],
])("all connections and transactions of a pool can be used after %s", async (_name, strike, repair) => {
  const proxy = await TcpProxy.start(5432);
  onTestFinished(() => proxy.close());
  const name = `pool-${randomUUID()}`;
  const url = `postgres://root@127.0.0.1:5432/test?application_name=${name}`;
  const admin = openDatabase(url);
  onTestFinished(() => admin.destroy());
  const database = openDatabase(proxy.through(url), { poolSize: POOL, timeoutSeconds: 2, statementSeconds: 1 });
  onTestFinished(() => database.destroy());

  for (let round = 0; round < ROUNDS; round++) {
    const ended = Promise.allSettled([transaction(database), transaction(database), held(database, 10)]);
    await expect.poll(() => sleeping(admin, name)).toBeGreaterThan(0);
    strike(proxy);
    await ended;
    repair(proxy);
  }

  await expect.poll(async () => new Set(await everyConnection(database).catch(() => [])).size).toBe(POOL);
  const transactions = await Promise.all([database.begin(), database.begin()]);
  for (const trx of transactions) await trx.end("success");
});

/** The server process of a connection, which is in use for so many seconds. */
async function held(database: Database, seconds: number): Promise<number | undefined> {
  const statement = sql<{ pid: number }>`select pg_backend_pid() as pid, pg_sleep(${seconds})`;
  const { rows } = await statement.execute(database);
  return rows[0]?.pid;
}

function everyConnection(database: Database): Promise<readonly unknown[]> {
  return Promise.all(Array.from({ length: POOL }, () => held(database, 0.3)));
}

async function transaction(database: Database): Promise<void> {
  const trx = await database.begin();
  try {
    await held(trx, 10);
  } finally {
    await trx.end("failure");
  }
}

async function sleeping(admin: Database, name: string): Promise<number> {
  const { rows } =
    await sql`select 1 from pg_stat_activity where application_name = ${name} and wait_event = 'PgSleep'`.execute(
      admin,
    );
  return rows.length;
}
