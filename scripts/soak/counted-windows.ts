import type { Count, CounterStore } from "../../src/index.ts";

/** A counter store that says how many windows are open: the one in memory has a timer for each. */
export class CountedWindows implements CounterStore {
  readonly #counters: CounterStore;
  readonly #ends = new Map<string, number>();

  constructor(counters: CounterStore) {
    this.#counters = counters;
  }

  get open(): number {
    const now = performance.now();
    for (const [name, end] of this.#ends) if (end <= now) this.#ends.delete(name);
    return this.#ends.size;
  }

  async increment(key: string, windowMs: number): Promise<Count> {
    const count = await this.#counters.increment(key, windowMs);
    this.#ends.set(nameOf(key, windowMs), performance.now() + count.resetAfterMs);
    return count;
  }

  async reset(key: string, windowMs: number): Promise<void> {
    await this.#counters.reset(key, windowMs);
    this.#ends.delete(nameOf(key, windowMs));
  }
}

function nameOf(key: string, windowMs: number): string {
  return `${windowMs} ${key}`;
}
