import { type Clock, clockRule, systemClock } from "../core/clock.ts";
import { PorticoError } from "../core/portico-error.ts";
import { optional, positiveInteger, resolveOptions } from "../core/resolve-options.ts";
import { checkTtl, type KeyValueStore } from "./key-value-store.ts";

export interface MemoryKeyValueOptions {
  /** The clock that decides when entries expire. @default the clock of the system */
  readonly clock?: Clock;
  /** The maximum number of entries. @default 100_000 */
  readonly maxEntries?: number;
}

interface Entry {
  readonly value: string;
  /** On the monotonic clock; `Infinity` for an entry without a TTL. */
  readonly expiresAt: number;
}

const rules = { clock: optional(clockRule, systemClock), maxEntries: optional(positiveInteger, 100_000) };

/** Entries that each write checks: more than the one it may add, so that the sweep outpaces the growth. */
const STEPS = 4;

/**
 * Keeps entries in the memory of this process, for development, tests and single-process applications that may lose them on
 * exit.
 *
 * A live entry is never dropped to make room. If `maxEntries` entries are held and none has expired, a write to a new key
 * rejects with a `PorticoError` of code `STORE_FULL`. There are no timers: each write sweeps a few entries.
 */
export class MemoryKeyValue implements KeyValueStore {
  readonly #clock: Clock;
  readonly #maxEntries: number;
  readonly #entries = new Map<string, Entry>();
  #cursor: Iterator<[string, Entry]> = this.#entries.entries();
  /** Nothing expires before this time, so a full store knows without checking each entry that there is nothing to sweep. */
  #nothingBefore = Number.POSITIVE_INFINITY;

  constructor(options: MemoryKeyValueOptions = {}) {
    const resolved = resolveOptions("MemoryKeyValue", options, rules);
    this.#clock = resolved.clock;
    this.#maxEntries = resolved.maxEntries;
  }

  /** The number of entries, including expired ones that are not swept yet. */
  get size(): number {
    return this.#entries.size;
  }

  async get(key: string): Promise<string | null> {
    return this.#read(key);
  }

  async set(key: string, value: string, ttlMs?: number): Promise<void> {
    this.#write(key, value, ttlMs);
  }

  async setIfAbsent(key: string, value: string, ttlMs?: number): Promise<boolean> {
    return this.compareAndSet(key, null, value, ttlMs);
  }

  async compareAndSet(key: string, expected: string | null, value: string, ttlMs?: number): Promise<boolean> {
    checkTtl(ttlMs);
    if (this.#read(key) !== expected) return false;
    this.#write(key, value, ttlMs);
    return true;
  }

  async delete(key: string): Promise<boolean> {
    return this.#read(key) !== null && this.#entries.delete(key);
  }

  #read(key: string): string | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    if (entry.expiresAt > this.#clock.monotonic()) return entry.value;
    this.#entries.delete(key);
    return null;
  }

  #write(key: string, value: string, ttlMs: number | undefined): void {
    checkTtl(ttlMs);
    const now = this.#clock.monotonic();
    this.#sweep(now);
    if (!this.#entries.has(key)) this.#makeRoom(now);
    const expiresAt = now + (ttlMs ?? Number.POSITIVE_INFINITY);
    this.#entries.set(key, { value, expiresAt });
    this.#nothingBefore = Math.min(this.#nothingBefore, expiresAt);
  }

  /** Continues where the last write stopped. The iterator of a Map stays valid while entries are added and deleted. */
  #sweep(now: number): void {
    for (let step = 0; step < STEPS; step++) {
      const next = this.#cursor.next();
      if (next.done === true) {
        this.#cursor = this.#entries.entries();
        return;
      }
      const [key, { expiresAt }] = next.value;
      if (expiresAt <= now) this.#entries.delete(key);
    }
  }

  #makeRoom(now: number): void {
    if (this.#entries.size < this.#maxEntries) return;
    if (this.#nothingBefore <= now) this.#sweepAll(now);
    if (this.#entries.size < this.#maxEntries) return;
    throw new PorticoError(
      "STORE_FULL",
      `the in-memory store is full: it holds ${this.#maxEntries} entries, and none of them has expired`,
      { status: 503 },
    );
  }

  #sweepAll(now: number): void {
    this.#nothingBefore = Number.POSITIVE_INFINITY;
    for (const [key, { expiresAt }] of this.#entries) {
      if (expiresAt <= now) this.#entries.delete(key);
      else this.#nothingBefore = Math.min(this.#nothingBefore, expiresAt);
    }
  }
}
