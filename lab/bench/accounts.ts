import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { Client } from "pg";
import { createClient } from "redis";
import { authentication, PasswordHasher, TokenForUser } from "../../src/auth/index.ts";
import { SessionStore } from "../../src/auth/sessions/session-store.ts";
import { systemClock } from "../../src/core/clock.ts";
import { PorticoApp } from "../../src/portico-app.ts";
import { redisStores } from "../../src/redis/index.ts";
import { type Database, migrate, openDatabase, sqlStores, userModel } from "../../src/sql/index.ts";
import type { CounterStore } from "../../src/stores/counter-store.ts";
import type { Stores } from "../../src/stores/stores.ts";
import { testClient } from "../../src/testing/index.ts";
import { keepResults, nodeMajor } from "./graphql/keep-results.ts";

const isShort = process.argv.includes("--short");
const LOGINS = isShort ? 60 : 300;
const REQUESTS = isShort ? 500 : 4_000;
const ROWS = isShort ? 500 : 3_000;
const DAY = { idleMs: 7_200_000, absoluteMs: 86_400_000 };
const POSTGRES = "postgres://root@127.0.0.1:5432/test";
const REDIS = "redis://127.0.0.1:6379";
const SECRET = "vJ3qk2x8Zb7Lw0Ye5Rt9Ua1Sd6Fg4Hn!";
const PASSWORD = "correct horse battery staple";

/** What a sign-in and a request by it cost in CPU, and what is stored for each: users in PostgreSQL, sessions there or in Redis. */
export async function run(): Promise<void> {
  const schema = `portico_${randomUUID().replaceAll("-", "")}`;
  const prefix = `p${randomUUID().slice(0, 6)}`;
  await onServer(`create schema ${schema}`);
  const database = openDatabase(`${POSTGRES}?options=${encodeURIComponent(`-c search_path=${schema}`)}`);
  const redis = redisStores(REDIS, { prefix });
  try {
    await migrate(database, "up");
    const inPostgres = sqlStores(database);
    await fill(database, [inPostgres, redis]);
    const sizes = await tableBytes(database);
    const inRedis = await redisBytes(prefix);
    const byRedis = await measure(database, redis);
    const byPostgres = await measure(database, inPostgres);
    report("users in PostgreSQL, the rest in Redis", byRedis);
    report("everything in PostgreSQL", byPostgres);
    if (!isShort) {
      const figures = [...figuresOf("Redis", byRedis), ...figuresOf("PostgreSQL", byPostgres)];
      keepResults(`accounts-node${nodeMajor}`, { node: process.version, figures });
    }
    console.log(`accounts: in Redis, bytes for each, all told: ${describe(inRedis)}`);
    console.log(`accounts: in PostgreSQL, bytes for each with their indexes: ${describe(sizes)}`);
  } finally {
    await Promise.all([redis.durable.close(), redis.counters.close(), redis.bus.close()]);
    await removeKeys(prefix);
    await database.destroy();
    await onServer(`drop schema ${schema} cascade`);
  }
}

interface Costs {
  /** CPU in milliseconds, all threads together. */
  readonly login: number;
  readonly token: number;
  /** By a session, and by a token. */
  readonly request: number;
  readonly tokenRequest: number;
}

async function measure(database: Database, stores: Stores): Promise<Costs> {
  const { durable, counters, bus } = stores;
  // They count, but never reject a request.
  const patient: CounterStore = {
    increment: async (key, windowMs) => ({ ...(await counters.increment(key, windowMs)), value: 1 }),
    reset: (key, windowMs) => counters.reset(key, windowMs),
  };
  const User = userModel(database);
  const app = new PorticoApp({ logger: false, stores: { durable, counters: patient, bus } });
  app.use(
    authentication({
      userModel: User,
      secret: "a secret of the benchmark, long enough",
      audience: "bench",
      mailer: async () => {},
      onEvent() {},
    }),
  );
  const client = testClient(app);
  const names = Array.from({ length: LOGINS / 10 }, () => `user-${randomUUID()}`);
  for (const name of names)
    await User.objects.createUser({ email: `${name}@example.org`, username: name, password: PASSWORD });
  const sign = (path: string) => async (n: number) => {
    const answer = await client.post(path, { body: { identifier: names[n % names.length], password: PASSWORD } });
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
    return answer;
  };
  const session = await sign("/account/login")(0);
  const headers = { cookie: session.cookies.map((cookie) => cookie.split(";")[0]).join("; ") };
  const { access_token } = (await sign("/account/token")(0)).json() as { access_token: string };
  const ask = (headers: Readonly<Record<string, string>>) => async () => {
    if ((await client.get("/account/me", { headers })).status !== 200) throw new Error("not signed in");
  };
  return {
    login: await cpuOf(LOGINS, sign("/account/login")),
    token: await cpuOf(LOGINS, sign("/account/token")),
    request: await cpuOf(REQUESTS, ask(headers)),
    tokenRequest: await cpuOf(REQUESTS, ask({ authorization: `Bearer ${access_token}` })),
  };
}

/** Enough rows of each kind, a session for each user, for their pages to say what one of them takes. */
async function fill(database: Database, places: readonly Stores[]): Promise<void> {
  const User = userModel(database);
  const limits = { plain: DAY, remembered: DAY, maxPerUser: 50 };
  const passwordHash = await new PasswordHasher().hash(PASSWORD);
  for (let n = 0; n < ROWS; n++) {
    const name = `filler-${randomUUID()}`;
    const user = await User.objects.importUser({ email: `${name}@example.org`, username: name, passwordHash });
    const session = {
      user: user.id,
      device: "Firefox on Linux",
      address: "203.0.113.17",
      isRemembered: false,
      version: 1,
    };
    for (const { durable, counters } of places) {
      const { handle } = await new SessionStore(durable, systemClock, limits).start(session);
      await new TokenForUser(user, { secret: SECRET, refreshStore: durable, sid: handle }).tokenPair();
      await counters.increment(`attempts:login-account-address:5:${name}`, 900_000);
    }
  }
}

async function cpuOf(times: number, work: (n: number) => Promise<unknown>): Promise<number> {
  await work(0);
  const before = process.cpuUsage();
  for (let n = 0; n < times; n++) await work(n);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / times;
}

const rate = (ms: number): string => Math.round(1_000 / ms).toLocaleString("en");
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function report(name: string, { login, token, request, tokenRequest }: Costs): void {
  console.log(
    `accounts: ${name}: ${login.toFixed(1)} ms of CPU for a sign-in by session (${rate(login)} per second and core), ${token.toFixed(1)} ms by tokens (${rate(token)}), ${request.toFixed(2)} ms for a request by session (${rate(request)}), ${tokenRequest.toFixed(2)} ms by token (${rate(tokenRequest)})`,
  );
}

function figuresOf(row: string, costs: Costs): readonly object[] {
  return Object.entries(costs).map(([workload, ms]) => ({ row, workload, micros: Math.round(ms * 1_000) }));
}

/** By the first word of their keys: how many there are, and how many bytes each takes. */
async function redisBytes(prefix: string): Promise<Readonly<Record<string, number>>> {
  const client = await createClient({ url: REDIS }).connect();
  const sizes = new Map<string, number[]>();
  for await (const keys of client.scanIterator({ MATCH: `${prefix}:*`, COUNT: 1_000 })) {
    for (const key of keys) {
      const kind = /\b(session|sessions-of|refresh\w*|attempts)\b/.exec(key.slice(prefix.length))?.[1] ?? "other";
      sizes.set(kind, [...(sizes.get(kind) ?? []), (await client.memoryUsage(key)) ?? 0]);
    }
  }
  client.destroy();
  return averages(sizes);
}

async function tableBytes(database: Database): Promise<Readonly<Record<string, number>>> {
  const sizes = new Map<string, number[]>();
  for (const table of ["users", "portico_entries", "portico_counters"]) {
    const { rows } = await sql<{ each: string }>`
      select pg_total_relation_size(${table}::regclass) / greatest(count(*), 1) as each from ${sql.table(table)}`.execute(
      database,
    );
    sizes.set(table, [Number(rows[0]?.each)]);
  }
  return averages(sizes);
}

function averages(sizes: ReadonlyMap<string, readonly number[]>): Readonly<Record<string, number>> {
  return Object.fromEntries([...sizes].map(([kind, values]) => [kind, Math.round(mean(values))]));
}

function describe(sizes: Readonly<Record<string, number>>): string {
  return Object.entries(sizes)
    .map(([kind, bytes]) => `${kind} ${bytes}`)
    .join(", ");
}

async function removeKeys(prefix: string): Promise<void> {
  const client = await createClient({ url: REDIS }).connect();
  for await (const keys of client.scanIterator({ MATCH: `${prefix}:*`, COUNT: 1_000 }))
    if (keys.length > 0) await client.del(keys);
  client.destroy();
}

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: POSTGRES });
  await client.connect();
  await client.query(statement);
  await client.end();
}
