/** What is known of a key that is counted. */
interface Entry {
  readonly level: number;
  readonly endsAt: number;
}

/** Beyond this, more counts make no difference. */
const HIGHEST_LEVEL = 32;
const SWEEP_EVERY_MS = 10_000;

/**
 * The keys that are counted, so many at most. When there are more, the one that was counted least is given up, of several the
 * oldest: a flood of new keys displaces one another, and none that is over its limit.
 */
export class CountedKeys {
  readonly #most: number;
  readonly #entries = new Map<string, Entry>();
  readonly #levels: readonly Set<string>[] = Array.from({ length: HIGHEST_LEVEL + 1 }, () => new Set<string>());
  /** Each goes on where it was: a set that is read from its start again and again passes by all that were deleted. */
  readonly #oldest: Iterator<string>[] = this.#levels.map((level) => level.values());
  #nextSweepAt = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Notes how often a key was counted, and until when that holds. Gives the key that is given up for it. */
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

  /** Those whose time is over go first; they are looked for now and then. */
  #sweep(): void {
    const now = Date.now();
    if (now < this.#nextSweepAt) return;
    this.#nextSweepAt = now + SWEEP_EVERY_MS;
    for (const [key, { endsAt }] of this.#entries) if (endsAt <= now) this.forget(key);
  }
}
