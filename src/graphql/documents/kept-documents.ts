import type { Clock } from "../../core/clock.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";

/** The number of store entries that hold documents. It is fixed, so that clients cannot fill the store. */
const SHELVES = 128;
/** 1,024 documents in all. */
const MAX_ON_A_SHELF = 8;
/** 6 MiB in all. */
const MAX_BYTES_ON_A_SHELF = 49_152;
/** Other processes write too. If all attempts fail, the client sends the full document again. */
const TRIES = 3;

interface Kept {
  readonly hash: string;
  readonly source: string;
  /** The expiry time, in milliseconds since 1970. */
  readonly until: number;
}

/**
 * The documents that clients have registered, in a store that also holds sessions. They have a separate capacity: each
 * hash belongs to one of 128 entries of the store, and in a full entry the newest document replaces the oldest.
 */
export class KeptDocuments {
  readonly #store: KeyValueStore;
  readonly #clock: Clock;

  constructor(store: KeyValueStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async get(hash: string): Promise<string | null> {
    const shelf = this.#read(await this.#store.get(keyOf(hash)));
    return shelf.find((kept) => kept.hash === hash)?.source ?? null;
  }

  /** Stores a document. `mayAdd` is called if it is not stored yet. */
  async keep(hash: string, source: string, keepMs: number, mayAdd: () => Promise<boolean>): Promise<void> {
    const key = keyOf(hash);
    for (let tries = 0; tries < TRIES; tries++) {
      const before = await this.#store.get(key);
      const shelf = this.#read(before);
      const present = shelf.find((kept) => kept.hash === hash);
      const now = this.#clock.now();
      // A document that clients always send in full is not written on each request.
      if (present !== undefined && present.until - now > keepMs / 2) return;
      if (present === undefined && tries === 0 && !(await mayAdd())) return;
      const others = shelf.filter((kept) => kept !== present);
      const after = fitted([...others, { hash, source, until: now + keepMs }]);
      if (await this.#store.compareAndSet(key, before, after, keepMs)) return;
    }
  }

  #read(text: string | null): readonly Kept[] {
    const now = this.#clock.now();
    return text === null ? [] : (JSON.parse(text) as readonly Kept[]).filter(({ until }) => until > now);
  }
}

/** Serializes the entry without the oldest documents that do not fit. */
function fitted(shelf: readonly Kept[]): string {
  const text = JSON.stringify(shelf);
  const isFull = shelf.length > MAX_ON_A_SHELF || Buffer.byteLength(text) > MAX_BYTES_ON_A_SHELF;
  return isFull && shelf.length > 1 ? fitted(shelf.slice(1)) : text;
}

function keyOf(hash: string): string {
  return `apq:${Number.parseInt(hash.slice(0, 4), 16) % SHELVES}`;
}
