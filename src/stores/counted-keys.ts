/** The state of a counted key. */
interface Entry {
  readonly level: number;
  readonly endsAt: number;
}

/** Above this level, further counts make no difference. */
const HIGHEST_LEVEL = 32;
const SWEEP_EVERY_MS = 10_000;

/**
 * A limited number of counted keys. When the limit is exceeded, the key with the lowest count is dropped, and the oldest one of
 * several. So a flood of new keys displaces itself, and never a key that exceeds its limit.
 */
export class CountedKeys {
  readonly #most: number;
  readonly #entries = new Map<string, Entry>();
  readonly #levels: readonly Set<string>[] = Array.from({ length: HIGHEST_LEVEL + 1 }, () => new Set<string>());
  /** Each iterator continues where it stopped. A set that is iterated from its start every time passes all deleted entries. */
  readonly #oldest: Iterator<string>[] = this.#levels.map((level) => level.values());
  #nextSweepAt = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Records the count of a key and when it expires. Returns the key that was dropped for it, if any. */
  note(key: string, count: number, endsAt: number): string | null {
    this.forget(key);
    const level = Math.min(count, HIGHEST_LEVEL);
    this.#entries.set(key, { level, endsAt });
    this.#levels[level]?.add(key);
    if (this.#entries.size <= this.#most) return null;
    this.#sweep();
    return this.#entries.size > this.#most ? this.#giveUp() : null;
  }

  forget(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#levels[entry.level]?.delete(key);
  }

  #giveUp(): string | null {
    for (const [index, level] of this.#levels.entries()) {
      if (level.size === 0) continue;
      let next = this.#oldest[index]?.next();
      if (next === undefined || next.done === true) {
        const again = level.values();
        this.#oldest[index] = again;
        next = again.next();
      }
      if (next.done === true) continue;
      this.forget(next.value);
      return next.value;
    }
    return null;
  }

  /** Removes expired keys first, at most once per interval. */
  #sweep(): void {
    const now = Date.now();
    if (now < this.#nextSweepAt) return;
    this.#nextSweepAt = now + SWEEP_EVERY_MS;
    for (const [key, { endsAt }] of this.#entries) if (endsAt <= now) this.forget(key);
  }
}
