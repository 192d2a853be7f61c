import { readFileSync } from "node:fs";
import { sql } from "kysely";
import { Client } from "pg";
import { createClient } from "redis";
import { PasswordHasher } from "../../../src/auth/index.ts";
import { migrate, openDatabase, type PorticoTables, userModel } from "../../../src/sql/index.ts";
import { ownPostgres } from "../../servers/own-postgres.ts";
import { RedisServer } from "../../servers/redis-server.ts";

export interface BookRow {
  readonly id: number;
  readonly title: string;
  readonly author: string;
}
export interface ScaleTables extends PorticoTables {
  books: BookRow;
}

/** The users that are signed in. */
export const USERS: readonly string[] = Array.from({ length: 40 }, (_, n) => `user-${n}`);
/** Those who sign in: a user has 50 sessions at most, and a new one ends the oldest. */
export const VISITORS: readonly string[] = Array.from({ length: 2_000 }, (_, n) => `visitor-${n}`);
export const PASSWORD = "correct horse battery staple";
const BOOKS = 10_000;
/** Linux counts the CPU time of other processes in these. */
const TICK_MICROS = 10_000;

/** CPU time of the servers since they started, in microseconds. */
interface ServerCpu {
  readonly redis: number;
  readonly postgres: number;
}

/** A PostgreSQL and a Redis that only one run uses, so that their CPU time is what its requests cost them. */
export interface ScalePlace {
  readonly settings: { readonly database: string; readonly redis: string };
  cpu(): Promise<ServerCpu>;
  remove(): Promise<void>;
}

export async function makeScalePlace(): Promise<ScalePlace> {
  const postgres = await ownPostgres(["-c", "max_connections=100", "-c", "autovacuum=off"]);
  const redis = await RedisServer.start();
  try {
    await fill(postgres.url);
  } catch (error) {
    await postgres.remove();
    await redis.remove();
    throw error;
  }
  const client = await createClient({ url: redis.url }).connect();
  const root = await postmaster(postgres.url);
  return {
    settings: { database: postgres.url, redis: redis.url },
    async cpu() {
      const seconds = [...(await client.info("cpu")).matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)];
      return { redis: sum(seconds.map(([, value]) => Number(value) * 1e6)), postgres: cpuOfTree(root) };
    },
    async remove() {
      client.destroy();
      await postgres.remove();
      await redis.remove();
    },
  };
}

async function fill(url: string): Promise<void> {
  const database = openDatabase<ScaleTables>(url);
  await migrate(database, "up");
  await database.schema
    .createTable("books")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("title", "text", (column) => column.notNull())
    .addColumn("author", "text", (column) => column.notNull())
    .execute();
  await sql`insert into books select n, 'The book ' || n, 'author ' || n % 100 from generate_series(1, ${BOOKS}) n`.execute(
    database,
  );
  await sql`analyze`.execute(database);
  const passwordHash = await new PasswordHasher().hash(PASSWORD);
  const { objects } = userModel(database);
  for (const username of [...USERS, ...VISITORS])
    await objects.importUser({ email: `${username}@example.org`, username, passwordHash });
  await database.destroy();
}

/** The process that starts all others of a PostgreSQL. */
async function postmaster(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const parent = statOf(rows[0]?.pid ?? 0)[1];
  await client.end();
  return Number(parent);
}

/** With the children that have ended. */
function cpuOfTree(root: number): number {
  const children = readFileSync(`/proc/${root}/task/${root}/children`, "utf8").trim().split(" ").filter(Boolean);
  return sum([root, ...children.map(Number)].map((pid) => sum(statOf(pid).slice(11, 15).map(Number)))) * TICK_MICROS;
}

/** The fields of `/proc/<pid>/stat` behind the name of the program. */
function statOf(pid: number): readonly string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
