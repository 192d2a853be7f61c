import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../core/clock.ts";
import { Conflict, ServiceUnavailable } from "../../kernel/exceptions/http-exception.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { revoke } from "../../stores/revoke.ts";
import { sha256 } from "../records/sha256.ts";
import { type APIKeyRecord, parseKeyRecord } from "./api-key-record.ts";
import { isKeyId } from "./api-key-text.ts";

/** A key, and its stored text, which a replacement is compared with. */
export interface StoredKey {
  readonly id: string;
  readonly record: APIKeyRecord;
  readonly stored: string;
}

/** How long an unfinished key is kept. */
const PENDING_MS = 60_000;
const MAX_CHANGES = 100;

/**
 * The API keys in a key-value store: one record per key, under its id, and a list of ids per owner.
 *
 * As with sessions, a record is written before it is listed and valid only after that, and a deleted record is never
 * written again. So a valid key is always in its owner's list, and a revoked key stays revoked despite concurrent
 * changes.
 */
export class APIKeyStore {
  readonly #store: KeyValueStore;
  readonly #clock: Clock;

  constructor(store: KeyValueStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Adds a key. Throws 409 if its owner has the maximum number of keys. */
  async add(id: string, record: APIKeyRecord, maxPerUser: number): Promise<StoredKey> {
    const pending = JSON.stringify({ ...record, isPending: true });
    if (!(await this.#store.setIfAbsent(recordKey(id), pending, PENDING_MS)))
      throw new ServiceUnavailable("The API key could not be created. Try again.");
    await this.#changeList(record.user, async (ids) => {
      const alive = ids.length < maxPerUser ? ids : await this.#alive(ids);
      if (alive.length >= maxPerUser)
        throw new Conflict(`The limit of ${maxPerUser} API keys is reached. Revoke one first.`);
      return [...alive, id];
    });
    const added = await this.replace({ id, record, stored: pending }, record);
    // All keys of the owner, including this one, were revoked in the meantime.
    if (added === null) throw new ServiceUnavailable("The API key could not be created. Try again.");
    return added;
  }

  /** Returns the key with this id unless it has expired. */
  async find(id: string): Promise<StoredKey | null> {
    const stored = await this.#store.get(recordKey(id));
    const record = parseKeyRecord(stored);
    if (stored === null || record === null || record.isPending || this.#isOver(record)) return null;
    return { id, record, stored };
  }

  /** Lists the owner's keys, oldest first. */
  async list(user: string): Promise<readonly StoredKey[]> {
    const ids = parseIds(await this.#store.get(listKey(user)));
    const found = await Promise.all(ids.map((id) => this.find(id)));
    return found.filter((key) => key !== null && key.record.user === user) as StoredKey[];
  }

  /** Replaces the record that was found. Returns `null` if it has changed or is gone. */
  async replace({ id, stored }: StoredKey, record: APIKeyRecord): Promise<StoredKey | null> {
    const text = JSON.stringify(record);
    const ttlMs = record.expiresAt === null ? undefined : Math.max(1, Math.ceil(record.expiresAt - this.#clock.now()));
    const isDone = await this.#store.compareAndSet(recordKey(id), stored, text, ttlMs);
    return isDone ? { id, record, stored: text } : null;
  }

  /** Removes keys from their owner and returns the ids of those that existed. */
  async remove(user: string, ids: readonly string[]): Promise<readonly string[]> {
    if (ids.length === 0) return [];
    const wasThere = await Promise.all(
      ids.map((id) => revoke(this.#store, recordKey(id), () => this.#store.delete(recordKey(id)))),
    );
    await this.#changeList(user, async (listed) => listed.filter((id) => !ids.includes(id)));
    return ids.filter((_, index) => wasThere[index] === true);
  }

  /** Returns all ids in the owner's list. Some keys may have ended or be pending. */
  async ids(user: string): Promise<readonly string[]> {
    return parseIds(await this.#store.get(listKey(user)));
  }

  async #alive(ids: readonly string[]): Promise<readonly string[]> {
    const texts = await Promise.all(ids.map((id) => this.#store.get(recordKey(id))));
    return ids.filter((_, index) => texts[index] !== null);
  }

  async #changeList(user: string, change: (ids: readonly string[]) => Promise<readonly string[]>): Promise<void> {
    for (let attempt = 0; attempt < MAX_CHANGES; attempt++) {
      // Another process changed the list, so the retry waits a random time to avoid the next collision.
      if (attempt > 2) await sleep(randomInt(1, 20));
      const before = await this.#store.get(listKey(user));
      const after = JSON.stringify(await change(parseIds(before)));
      if (after === (before ?? "[]")) return;
      // An empty list equals a missing one, so it expires at once.
      const ttlMs = after === "[]" ? 1 : undefined;
      if (await this.#store.compareAndSet(listKey(user), before, after, ttlMs)) return;
    }
    throw new ServiceUnavailable("Too many concurrent changes to these API keys. Try again.");
  }

  #isOver({ expiresAt }: APIKeyRecord): boolean {
    return expiresAt !== null && expiresAt <= this.#clock.now();
  }
}

function recordKey(id: string): string {
  return `apikey:${id}`;
}

/** Hashes the identity, because not every text is a valid store key. */
function listKey(user: string): string {
  return `apikeys-of:${sha256(JSON.stringify(user))}`;
}

function parseIds(text: string | null): readonly string[] {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(value) ? value.filter(isKeyId) : [];
  } catch {
    return [];
  }
}
