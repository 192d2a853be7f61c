import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { createClient } from "redis";
import type { SmallDisk } from "../../servers/small-disk.ts";

const FULL_MS = 2_000;
/** Pages that are not full still take rows. */
const DISK_FULL_MS = 6_000;
const NAME = "exhaust";
/** The application tries to get the connections back. */
const ROUNDS = 3;
const OTHERS = `select pg_terminate_backend(pid) from pg_stat_activity
  where backend_type = 'client backend' and application_name <> '${NAME}'`;

/** Takes every connection of PostgreSQL, those of the application included. */
export async function exhaustConnections(url: string): Promise<void> {
  const taken: Client[] = [];
  try {
    await takeAll(url, taken);
    for (let round = 0; round < ROUNDS; round++) {
      await taken[0]?.query(OTHERS);
      await takeAll(url, taken);
    }
    await sleep(FULL_MS);
  } finally {
    await Promise.all(taken.map((client) => client.end()));
  }
}

async function takeAll(url: string, taken: Client[]): Promise<void> {
  for (;;) {
    const client = new Client({ connectionString: url, application_name: NAME }).on("error", () => {});
    try {
      await client.connect();
    } catch {
      return;
    }
    taken.push(client);
  }
}

/** Redis refuses commands that need memory. */
export async function exhaustMemory(url: string): Promise<void> {
  const admin = await createClient({ url }).connect();
  try {
    await admin.configSet("maxmemory", "1");
    await sleep(FULL_MS);
  } finally {
    await admin.configSet("maxmemory", "0");
    await admin.close();
  }
}

/** PostgreSQL cannot add pages to its tables. */
export async function exhaustDisk(disk: SmallDisk): Promise<void> {
  disk.fill();
  await sleep(DISK_FULL_MS);
  disk.free();
}
