import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceUnavailable } from "../../kernel/exceptions/http-exception.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";

const MAX_CHANGES = 50;

/**
 * Replaces the JSON under a key with the result of `edit`, and starts again if another process has changed it in the
 * meantime. `null` stands for no record. Nothing is written if `edit` returns the record that it was given.
 *
 * @param ttlMs how long the record is kept
 */
export async function changeRecord<T extends object>(
  store: KeyValueStore,
  key: string,
  edit: (record: T | null) => T | null | Promise<T | null>,
  ttlMs: (record: T) => number | undefined = () => undefined,
): Promise<void> {
  for (let attempt = 0; attempt < MAX_CHANGES; attempt++) {
    if (attempt > 2) await sleep(randomInt(1, 20));
    const text = await store.get(key);
    const before = parseRecord<T>(text);
    const after = await edit(before);
    if (after === before) return;
    // An empty record equals a missing one, so it expires at once.
    const isDone = await (after === null
      ? store.compareAndSet(key, text, "", 1)
      : store.compareAndSet(key, text, JSON.stringify(after), ttlMs(after)));
    if (isDone) return;
  }
  throw new ServiceUnavailable("Too many concurrent changes to this account. Try again.");
}

/** Parses a record that `changeRecord` has written. */
export function parseRecord<T extends object>(text: string | null): T | null {
  return text === null || text === "" ? null : (JSON.parse(text) as T);
}
