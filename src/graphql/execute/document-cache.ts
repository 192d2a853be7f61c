/**
 * Caches prepared documents, up to a number of bytes, and evicts the least recently used.
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
    const entry = this.#proven.take(key) ?? this.#fresh.take(key);
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
    this.#fresh.add(key, { value, bytes });
    while (this.bytes > this.#most) this.#fresh.oldest();
  }
}

const PROVEN_SHARE = 0.8;

interface Entry<T> {
  readonly value: T;
  readonly bytes: number;
}

/** One segment of the cache. A `Map` iterates in insertion order, so its first entry is the oldest. */
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

  /** Removes and returns the oldest entry; the segment must not be empty. */
  oldest(): [string, Entry<T>] {
    const [key] = this.entries.keys();
    const entry = key === undefined ? undefined : this.take(key);
    if (key === undefined || entry === undefined) throw new Error("An empty segment has no oldest entry");
    return [key, entry];
  }
}
