import { createClient } from "redis";

/** Every key and value that the shop has in Redis. */
export async function stored(): Promise<readonly string[]> {
  const client = createClient({ url: process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379" });
  await client.connect();
  try {
    const found: string[] = [];
    for await (const names of client.scanIterator({ MATCH: `${process.env["REDIS_PREFIX"]}:*`, COUNT: 1_000 }))
      for (const name of names) found.push(name, (await client.dump(name)) ?? "");
    return found;
  } finally {
    client.destroy();
  }
}
