import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { revoke } from "../../stores/revoke.ts";
import { changeRecord, parseRecord } from "../records/change-record.ts";
import { sha256 } from "../records/sha256.ts";
import { type FactorRecord, NO_FACTORS } from "./factor-record.ts";

/** The second factors in a key-value store: one record per user. */
export class FactorStore {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  async get(user: string): Promise<FactorRecord> {
    return parseRecord<FactorRecord>(await this.#store.get(keyOf(user))) ?? NO_FACTORS;
  }

  /**
   * Replaces the record by the one that `edit` returns, and returns whether it did: not if `edit` returns `null`. After a
   * concurrent change, `edit` is called again with the new record.
   */
  async change(user: string, edit: (record: FactorRecord) => FactorRecord | null): Promise<boolean> {
    let isChanged = false;
    await changeRecord<FactorRecord>(this.#store, keyOf(user), (record) => {
      const next = edit(record ?? NO_FACTORS);
      isChanged = next !== null;
      return next ?? record;
    });
    return isChanged;
  }

  /** Like `change`, for an edit that takes a factor away. */
  remove(user: string, edit: (record: FactorRecord) => FactorRecord | null): Promise<boolean> {
    return revoke(this.#store, keyOf(user), () => this.change(user, edit));
  }
}

/** Hashes the identity, because not every text is a valid store key. */
function keyOf(user: string): string {
  return `factors:${sha256(user)}`;
}
