import type { KeyValueStore } from "./key-value-store.ts";

/**
 * Ends something that must stay ended, such as a session or a key: also after a failover to a server that missed the write.
 * All revocations go through this function; a lint rule checks those that delete.
 *
 * Rejects with 503 and writes nothing if the store cannot promise that now, so that a client that tries again is not told that
 * there is nothing to end. Also rejects if the store fails to confirm the write itself.
 *
 * @param write the write under the key
 */
export async function revoke<T>(store: KeyValueStore, key: string, write: () => Promise<T>): Promise<T> {
  await store.confirm?.(key);
  const result = await write();
  await store.confirm?.(key);
  return result;
}

/** Deletes what may come back in a failover without harm: an entry that has expired, is used once within minutes, or is left over. */
export function discard(store: KeyValueStore, key: string): Promise<boolean> {
  return store.delete(key);
}
