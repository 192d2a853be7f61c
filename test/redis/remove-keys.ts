import { createClient } from "redis";
import { SHARED_URL } from "../../lab/servers/redis-server.ts";

/** Removes the keys of a test from the shared server. */
export async function removeKeys(prefix: string): Promise<void> {
  const client = await createClient({ url: SHARED_URL }).connect();
  for await (const keys of client.scanIterator({ MATCH: `${prefix}:*`, COUNT: 1_000 })) {
    if (keys.length > 0) await client.del(keys);
  }
  client.destroy();
}
