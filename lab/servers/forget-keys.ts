import { createClient } from "redis";

/** Deletes all keys with a prefix from Redis. */
export async function forgetKeys(url: string, prefix: string): Promise<void> {
  const client = await createClient({ url }).connect();
  for await (const keys of client.scanIterator({ MATCH: `${prefix}:*`, COUNT: 1_000 }))
    if (keys.length > 0) await client.del(keys);
  client.destroy();
}
