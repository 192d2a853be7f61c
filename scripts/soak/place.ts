import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { createClient } from "redis";
import type { SoakSettings } from "./soak-settings.ts";

export interface Place {
  readonly settings: Omit<SoakSettings, "leak" | "faults">;
  /** Takes away what the run has left outside of its processes. */
  clear(): Promise<void>;
}

/** Where a run keeps its things: a directory, a schema and a prefix of its own. */
export async function makePlace(isOnPostgres: boolean, isOnRedis: boolean): Promise<Place> {
  const name = `soak_${randomBytes(6).toString("hex")}`;
  const folder = mkdtempSync(join(tmpdir(), "portico-soak-"));
  const directory = join(folder, "uploads");
  mkdirSync(directory);
  const redis = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379";
  const postgres = process.env["DATABASE_URL"] ?? "postgres://root@127.0.0.1:5432/test";
  if (isOnPostgres) await inPostgres(postgres, `create schema ${name}`);
  return {
    settings: {
      database: isOnPostgres ? inSchema(postgres, name) : `sqlite:${join(folder, "soak.db")}`,
      redis: isOnRedis ? { url: redis, prefix: name } : null,
      directory,
    },
    async clear() {
      rmSync(folder, { recursive: true, force: true });
      if (isOnPostgres) await inPostgres(postgres, `drop schema ${name} cascade`);
      if (isOnRedis) await forgetKeys(redis, name);
    },
  };
}

function inSchema(url: string, schema: string): string {
  return `${url}${url.includes("?") ? "&" : "?"}options=-c%20search_path%3D${schema}`;
}

async function inPostgres(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

async function forgetKeys(url: string, prefix: string): Promise<void> {
  const client = await createClient({ url }).connect();
  for await (const keys of client.scanIterator({ MATCH: `${prefix}:*`, COUNT: 1_000 }))
    if (keys.length > 0) await client.del(keys);
  client.destroy();
}
