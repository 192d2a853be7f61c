import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import type { PorticoApp } from "portico";
import { afterAll, onTestFinished } from "vitest";
import { root } from "../../scripts/package/repository.ts";
import { removeKeys } from "../redis/remove-keys.ts";
import { copyBookshop, type Edit } from "./copy-bookshop.ts";

const DATABASE = "postgres://postgres@127.0.0.1:5432/test";
const place = `bookshop_${randomBytes(6).toString("hex")}`;

const folders: string[] = [];

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true });
  await inDatabase(`drop schema if exists ${place} cascade`);
  await removeKeys(place);
});

/** Makes the tables that all copies of this test file share, with a few rows. */
export async function fillBookshop(): Promise<void> {
  await inDatabase(`create schema ${place}`);
  const shop = await copyOf([]);
  const { migrateAll } = (await shop("migrations/migrate-all.ts")) as { migrateAll: () => Promise<void> };
  const { seed } = (await shop("seed/seed.ts")) as { seed: (size: object) => Promise<void> };
  await migrateAll();
  await seed({ books: 12, users: 3 });
  const { database } = (await shop("database.ts")) as { database: { destroy(): Promise<void> } };
  const { stores } = (await shop("stores.ts")) as { stores: { close(): Promise<void> } };
  await Promise.all([database.destroy(), stores.close()]);
  await inDatabase(`insert into ${place}.orders (id, buyer_id) values ('one', 'reader1')`);
  await inDatabase(
    `insert into ${place}.order_lines (order_id, book_id, seller_id, copies, price_cents)
     values ('one', 'book-1', 'seller1', 1, 100)`,
  );
}

/** A copy of examples/bookshop with these changes. Its types are not part of this project, which has no registered user. */
export async function bookshopCopy(edits: readonly Edit[] = []): Promise<PorticoApp> {
  const shop = await copyOf(edits);
  const { bookshop } = (await shop("app.ts")) as { bookshop: (options: object) => PorticoApp };
  const app = bookshop({ app: { logger: false } });
  onTestFinished(() => app.close());
  return app;
}

async function copyOf(edits: readonly Edit[]): Promise<(file: string) => Promise<unknown>> {
  const folder = join(root, ".cache", `bookshop-${randomBytes(6).toString("hex")}`);
  await copyBookshop(folder, edits);
  folders.push(folder);
  // The modules read them when they are imported.
  process.env["DATABASE_URL"] = `${DATABASE}?options=-c%20search_path%3D${place}`;
  process.env["REDIS_PREFIX"] = place;
  return (file) => import(/* @vite-ignore */ join(folder, "src", file));
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
