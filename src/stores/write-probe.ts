import { randomBytes } from "node:crypto";
import type { KeyValueStore } from "./key-value-store.ts";

/** As long as several pages of a database, because a disk that is almost full may have room for one. */
const VALUE = randomBytes(12 * 1024).toString("base64");
const TTL_MS = 60_000;

/** Returns a check that writes to a store, and deletes it. Processes do not share the key. */
export function writeProbe(store: KeyValueStore): () => Promise<void> {
  const key = `write-probe:${randomBytes(9).toString("base64url")}`;
  return async () => {
    await store.set(key, VALUE, TTL_MS);
    await store.delete(key);
  };
}
