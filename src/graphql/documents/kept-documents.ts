import type { Clock } from "../../core/clock.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";

/** Entries of the store that hold documents: so many and no more, whatever clients send. */
const SHELVES = 128;
/** 1,024 documents in all. */
const MOST_ON_A_SHELF = 8;
/** 6 MiB in all. */
const MOST_BYTES_ON_A_SHELF = 49_152;
/** Other processes write, too; a document that loses every time is sent whole again. */
const TRIES = 3;

interface Kept {
  readonly hash: string;
  readonly source: string;
  /** In milliseconds since 1970. */
  readonly until: number;
}

/**
 * The documents that clients have registered, in a store that also holds sessions. They have their own capacity: each hash
 * belongs to one of 128 entries of the store, and within an entry the oldest document makes room for the newest.
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

  /** Keeps a document; `mayAdd` is called for one that is not there yet. */
  async keep(hash: string, source: string, keepMs: number, mayAdd: () => Promise<boolean>): Promise<void> {
    const key = keyOf(hash);
    for (let tries = 0; tries < TRIES; tries++) {
      const before = await this.#store.get(key);
      const shelf = this.#read(before);
      const present = shelf.find((kept) => kept.hash === hash);
      const now = this.#clock.now();
      // One that clients send whole each time is not written each time.
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

/** As text, without the oldest that there is no room for. */
function fitted(shelf: readonly Kept[]): string {
  const text = JSON.stringify(shelf);
  const isFull = shelf.length > MOST_ON_A_SHELF || Buffer.byteLength(text) > MOST_BYTES_ON_A_SHELF;
  return isFull && shelf.length > 1 ? fitted(shelf.slice(1)) : text;
}

function keyOf(hash: string): string {
  return `apq:${Number.parseInt(hash.slice(0, 4), 16) % SHELVES}`;
}
