import { randomBytes } from "node:crypto";
import { Client } from "pg";
import type { PorticoApp } from "portico";
import type { Mail } from "portico/auth";
import { type LiveClient, type LogCatcher, liveClient, logCatcher } from "portico/testing";
import { createClient } from "redis";
import { afterAll } from "vitest";

const DATABASE = process.env["DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/test";
const REDIS = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379";
const place = `bookshop_${randomBytes(6).toString("hex")}`;

// Each test file has its own schema and prefix. The shop's modules read them when they are first imported.
process.env["DATABASE_URL"] = `${DATABASE}${DATABASE.includes("?") ? "&" : "?"}options=-c%20search_path%3D${place}`;
process.env["REDIS_PREFIX"] = place;
await inDatabase(`create schema ${place}`);
const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
  const [{ database }, { stores }] = [await import("../src/database.ts"), await import("../src/stores.ts")];
  await Promise.all([database.destroy(), stores.close()]);
  await inDatabase(`drop schema ${place} cascade`);
  await forgetKeys();
});

/** The shop, listening. */
export interface Shop {
  readonly app: PorticoApp;
  readonly client: LiveClient;
  readonly log: LogCatcher;
  /** The emails that were sent. */
  readonly mails: readonly Mail[];
}

/** The password of all seeded users: admin, staff, seller1, seller2, reader1 and so on. */
export const password = "correct horse battery";

/** Starts the shop in this process, with filled tables. */
export async function openShop({ books = 120, users = 20 } = {}): Promise<Shop> {
  await fillTables({ books, users });
  const { bookshop } = await import("../src/app.ts");
  const log = logCatcher();
  const mails: Mail[] = [];
  const app = bookshop({ mailer: async (mail) => void mails.push(mail), app: { logger: log } });
  const client = await liveClient(app);
  closing.push(() => client.close());
  return { app, client, log, mails };
}

export async function fillTables(size: { readonly books: number; readonly users: number }): Promise<void> {
  const { migrateAll } = await import("../src/migrations/migrate-all.ts");
  const { seed } = await import("../src/seed/seed.ts");
  await migrateAll();
  await seed(size);
}

/** Returns the number of processes subscribed to a topic in Redis. Earlier events would be lost. */
export async function listeners(topic: string): Promise<number> {
  const channel = `${place}:bus:${topic}`;
  return withRedis(async (client) => (await client.pubSubNumSub([channel]))[channel] ?? 0);
}

async function inDatabase(statement: string): Promise<void> {
  const client = new Client({ connectionString: DATABASE });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

async function forgetKeys(): Promise<void> {
  await withRedis(async (client) => {
    for await (const keys of client.scanIterator({ MATCH: `${place}:*`, COUNT: 1_000 }))
      if (keys.length > 0) await client.del(keys);
  });
}

const redisClient = () => createClient({ url: REDIS });

async function withRedis<T>(work: (client: ReturnType<typeof redisClient>) => Promise<T>): Promise<T> {
  const client = redisClient();
  await client.connect();
  try {
    return await work(client);
  } finally {
    client.destroy();
  }
}
