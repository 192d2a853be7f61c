import type { Count, CounterStore } from "../../src/index.ts";
import { RedisCounter } from "../../src/redis/index.ts";

/** A counter store that says how many windows are open: the one in memory has a timer for each. */
export class CountedWindows implements CounterStore {
  readonly #counters: CounterStore;
  readonly #windows = new OpenWindows();

  constructor(counters: CounterStore) {
    this.#counters = counters;
  }

  get open(): number {
    return this.#windows.count;
  }

  increment(key: string, windowMs: number): Promise<Count> {
    return this.#windows.increment(key, windowMs, this.#counters.increment(key, windowMs));
  }

  async reset(key: string, windowMs: number): Promise<void> {
    await this.#counters.reset(key, windowMs);
    this.#windows.forget(key, windowMs);
  }
}

/** The counters on Redis. While Redis is away, windows are in the memory of the process, and each has a timer. */
export class CountedRedisWindows extends RedisCounter {
  readonly #windows = new OpenWindows();

  /** Those on Redis included: nothing tells where a window was opened. */
  get open(): number {
    return this.#windows.count;
  }

  override increment(key: string, windowMs: number): Promise<Count> {
    return this.#windows.increment(key, windowMs, super.increment(key, windowMs));
  }
}

class OpenWindows {
  readonly #ends = new Map<string, number>();

  get count(): number {
    const now = performance.now();
    for (const [name, end] of this.#ends) if (end <= now) this.#ends.delete(name);
    return this.#ends.size;
  }

  async increment(key: string, windowMs: number, counted: Promise<Count>): Promise<Count> {
    const count = await counted;
    this.#ends.set(nameOf(key, windowMs), performance.now() + count.resetAfterMs);
    return count;
  }

  forget(key: string, windowMs: number): void {
    this.#ends.delete(nameOf(key, windowMs));
  }
}

function nameOf(key: string, windowMs: number): string {
  return `${windowMs} ${key}`;
}
