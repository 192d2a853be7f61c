/**
 * Caches prepared documents, up to a number of bytes, and evicts those that have not been used for long.
 *
 * Entries that were used again have a segment with up to four fifths of the space, and new entries only evict entries of the
 * other segment: a client that sends a million documents once each cannot evict those that are in use.
 */
export class DocumentCache<T> {
  readonly #most: number;
  readonly #mostProven: number;
  readonly #fresh: Segment<T> = new Segment();
  readonly #proven: Segment<T> = new Segment();

  constructor(mostBytes: number) {
    this.#most = mostBytes;
    this.#mostProven = Math.floor(mostBytes * PROVEN_SHARE);
  }

  get size(): number {
    return this.#fresh.entries.size + this.#proven.entries.size;
  }

  get bytes(): number {
    return this.#fresh.bytes + this.#proven.bytes;
  }

  get(key: string): T | undefined {
    const proven = this.#proven.entries.get(key);
    if (proven !== undefined) {
      proven.isUsed = true;
      return proven.value;
    }
    const entry = this.#fresh.take(key);
    if (entry === undefined) return undefined;
    this.#proven.add(key, entry);
    while (this.#proven.bytes > this.#mostProven) this.#fresh.add(...this.#proven.oldest());
    return entry.value;
  }

  /** Does not keep an entry that is larger than the space for new entries. */
  set(key: string, value: T, bytes: number): void {
    if (bytes > this.#most - this.#mostProven) return;
    this.#proven.take(key);
    this.#fresh.take(key);
    this.#fresh.add(key, { value, bytes, isUsed: false });
    while (this.bytes > this.#most) this.#fresh.oldest();
  }
}

const PROVEN_SHARE = 0.8;

interface Entry<T> {
  readonly value: T;
  readonly bytes: number;
  /** Whether it was used since it was last considered for eviction. */
  isUsed: boolean;
}

/**
 * One segment of the cache. A `Map` iterates in insertion order, so its first entry is the oldest. Entries are not moved when
 * they are used, because inserting into a `Map` costs several times as much as reading from it.
 */
class Segment<T> {
  readonly entries: Map<string, Entry<T>> = new Map();
  bytes = 0;

  add(key: string, entry: Entry<T>): void {
    this.entries.set(key, entry);
    this.bytes += entry.bytes;
  }

  take(key: string): Entry<T> | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    this.bytes -= entry.bytes;
    return entry;
  }

  /** Removes and returns the oldest entry that was not used since the last call; the segment must not be empty. */
  oldest(): [string, Entry<T>] {
    // The loop also visits the entries that it moves to the end.
    for (const [key, entry] of this.entries) {
      this.take(key);
      if (!entry.isUsed) return [key, entry];
      entry.isUsed = false;
      this.add(key, entry);
    }
    throw new Error("An empty segment has no oldest entry");
  }
}
