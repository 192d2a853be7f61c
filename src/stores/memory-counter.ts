// oxlint-disable-next-line typescript/triple-slash-reference -- an ambient declaration has nothing to import
/// <reference path="./rate-limiter-flexible.d.ts" />
import RateLimiterMemory from "rate-limiter-flexible/lib/RateLimiterMemory.js";
import { outside } from "../core/outside.ts";
import { CountedKeys } from "./counted-keys.ts";
import { type Count, type CounterStore, checkWindow } from "./counter-store.ts";
import { storeKey } from "./store-key.ts";

/** Some 40 MB. */
const MOST_KEYS = 100_000;

/**
 * Counts in the memory of this process: a limit then holds for each process on its own.
 *
 * A counter is forgotten when its window is over, by a timer that keeps no process alive. There are 100,000 at most; beyond that
 * those go that have counted least.
 */
export class MemoryCounter implements CounterStore {
  /** By length of the window: the same key under another length must not meet the window that is open. */
  readonly #limiters = new Map<number, RateLimiterMemory>();
  #keys = new CountedKeys(MOST_KEYS);

  async increment(given: string, windowMs: number): Promise<Count> {
    checkWindow(windowMs);
    const key = storeKey(given);
    // Not consume(), which rejects over a limit: what is too much is decided by whoever asks.
    // And outside: the timer would hold the whole request, until the end of a window that may be an hour.
    const { consumedPoints, msBeforeNext } = await outside(() => this.#limiter(windowMs).penalty(key));
    // Seconds with a fraction came out of milliseconds and went back into them.
    const resetAfterMs = Math.max(0, Math.round(msBeforeNext));
    await this.#giveUp(this.#keys.note(`${windowMs} ${key}`, consumedPoints, Date.now() + resetAfterMs));
    return { value: consumedPoints, resetAfterMs };
  }

  async reset(given: string, windowMs: number): Promise<void> {
    checkWindow(windowMs);
    const key = storeKey(given);
    this.#keys.forget(`${windowMs} ${key}`);
    await this.#limiter(windowMs).delete(key);
  }

  async resetAll(): Promise<void> {
    this.#limiters.clear();
    this.#keys = new CountedKeys(MOST_KEYS);
  }

  async #giveUp(name: string | null): Promise<void> {
    if (name === null) return;
    const end = name.indexOf(" ");
    await this.#limiter(Number(name.slice(0, end))).delete(name.slice(end + 1));
  }

  #limiter(windowMs: number): RateLimiterMemory {
    let limiter = this.#limiters.get(windowMs);
    if (limiter === undefined) {
      limiter = new RateLimiterMemory({
        points: Number.MAX_SAFE_INTEGER,
        duration: toSeconds(windowMs),
        keyPrefix: "",
      });
      this.#limiters.set(windowMs, limiter);
    }
    return limiter;
  }
}

/** Seconds that are no less than the milliseconds once they are turned back: 1001 / 1000 * 1000 is below 1001. */
function toSeconds(ms: number): number {
  const seconds = ms / 1000;
  return seconds * 1000 < ms ? seconds * (1 + Number.EPSILON) : seconds;
}
