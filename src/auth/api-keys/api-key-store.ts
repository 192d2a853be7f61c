import { createHash, randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../core/clock.ts";
import { Conflict, ServiceUnavailable } from "../../http/context/http-exception.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { type APIKeyRecord, parseKeyRecord } from "./api-key-record.ts";
import { isKeyId } from "./api-key-text.ts";

/** A key that is there, and its text in the store, to replace it by. */
export interface StoredKey {
  readonly id: string;
  readonly record: APIKeyRecord;
  readonly stored: string;
}

/** How long a half-made key is kept. */
const PENDING_MS = 60_000;
const MOST_CHANGES = 100;

/**
 * API keys in a key-value store: a record for each under its id, and a list of ids for each owner.
 *
 * As with sessions, a record is written before it is listed and counts only after that, and one that is gone is never written
 * again. So a key that counts is in its owner's list, and what was revoked stays revoked, whatever runs at the same time.
 */
export class APIKeyStore {
  readonly #store: KeyValueStore;
  readonly #clock: Clock;

  constructor(store: KeyValueStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Adds a key to those of its owner. Throws 409 when the owner has as many as may be. */
  async add(id: string, record: APIKeyRecord, maxPerUser: number): Promise<StoredKey> {
    const pending = JSON.stringify({ ...record, isPending: true });
    if (!(await this.#store.setIfAbsent(recordKey(id), pending, PENDING_MS)))
      throw new ServiceUnavailable("The key could not be made");
    await this.#changeList(record.user, async (ids) => {
      const alive = ids.length < maxPerUser ? ids : await this.#alive(ids);
      if (alive.length >= maxPerUser) throw new Conflict(`There are ${maxPerUser} API keys already: revoke one first`);
      return [...alive, id];
    });
    const added = await this.replace({ id, record, stored: pending }, record);
    // All of the owner's keys were revoked meanwhile, this one with them.
    if (added === null) throw new ServiceUnavailable("The key could not be made");
    return added;
  }

  /** The key under this id, unless it is over. */
  async find(id: string): Promise<StoredKey | null> {
    const stored = await this.#store.get(recordKey(id));
    const record = parseKeyRecord(stored);
    if (stored === null || record === null || record.isPending || this.#isOver(record)) return null;
    return { id, record, stored };
  }

  /** The owner's keys, the oldest first. */
  async list(user: string): Promise<readonly StoredKey[]> {
    const ids = parseIds(await this.#store.get(listKey(user)));
    const found = await Promise.all(ids.map((id) => this.find(id)));
    return found.filter((key) => key !== null && key.record.user === user) as StoredKey[];
  }

  /** Writes a record in place of the one that was found; `null` when that is there no more. */
  async replace({ id, stored }: StoredKey, record: APIKeyRecord): Promise<StoredKey | null> {
    const text = JSON.stringify(record);
    const ttlMs = record.expiresAt === null ? undefined : Math.max(1, Math.ceil(record.expiresAt - this.#clock.now()));
    const isDone = await this.#store.compareAndSet(recordKey(id), stored, text, ttlMs);
    return isDone ? { id, record, stored: text } : null;
  }

  /** Takes keys away from their owner, and gives the ids of those that were there. */
  async remove(user: string, ids: readonly string[]): Promise<readonly string[]> {
    if (ids.length === 0) return [];
    const wasThere = await Promise.all(ids.map((id) => this.#store.delete(recordKey(id))));
    await this.#changeList(user, async (listed) => listed.filter((id) => !ids.includes(id)));
    return ids.filter((_, index) => wasThere[index] === true);
  }

  /** All ids in the owner's list; some may be dead, or not yet alive. */
  async ids(user: string): Promise<readonly string[]> {
    return parseIds(await this.#store.get(listKey(user)));
  }

  async #alive(ids: readonly string[]): Promise<readonly string[]> {
    const texts = await Promise.all(ids.map((id) => this.#store.get(recordKey(id))));
    return ids.filter((_, index) => texts[index] !== null);
  }

  async #changeList(user: string, change: (ids: readonly string[]) => Promise<readonly string[]>): Promise<void> {
    for (let attempt = 0; attempt < MOST_CHANGES; attempt++) {
      // Somebody else was faster: not at the same moment again.
      if (attempt > 2) await sleep(randomInt(1, 20));
      const before = await this.#store.get(listKey(user));
      const after = JSON.stringify(await change(parseIds(before)));
      if (after === (before ?? "[]")) return;
      // An empty list is as good as none.
      const ttlMs = after === "[]" ? 1 : undefined;
      if (await this.#store.compareAndSet(listKey(user), before, after, ttlMs)) return;
    }
    throw new ServiceUnavailable("The API keys are changed by too many at once");
  }

  #isOver({ expiresAt }: APIKeyRecord): boolean {
    return expiresAt !== null && expiresAt <= this.#clock.now();
  }
}

function recordKey(id: string): string {
  return `apikey:${id}`;
}

/** Hashed: an identity is any text, and a key of the store is not. */
function listKey(user: string): string {
  return `apikeys-of:${createHash("sha256").update(JSON.stringify(user)).digest("base64url")}`;
}

function parseIds(text: string | null): readonly string[] {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(value) ? value.filter(isKeyId) : [];
  } catch {
    return [];
  }
}
