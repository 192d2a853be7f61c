// oxlint-disable-next-line typescript/triple-slash-reference -- an ambient declaration has nothing to import
/// <reference path="./rate-limiter-flexible.d.ts" />
import RateLimiterMemory from "rate-limiter-flexible/lib/RateLimiterMemory.js";
import { outside } from "../core/outside.ts";
import { CountedKeys } from "./counted-keys.ts";
import { type Count, type CounterStore, checkWindow } from "./counter-store.ts";
import { storeKey } from "./store-key.ts";

/** This many keys take about 40 MB. */
const MOST_KEYS = 100_000;

/**
 * Counts in the memory of this process, so a limit applies to each process separately.
 *
 * A counter is dropped at the end of its window, by a timer that does not keep the process alive. There are at most 100,000;
 * beyond that the keys with the lowest counts are dropped.
 */
export class MemoryCounter implements CounterStore {
  /** One limiter per window length, because a key with another length must not use the window that is open. */
  readonly #limiters = new Map<number, RateLimiterMemory>();
  #keys = new CountedKeys(MOST_KEYS);

  async increment(given: string, windowMs: number): Promise<Count> {
    checkWindow(windowMs);
    const key = storeKey(given);
    // Not `consume()`, which rejects above a limit: the caller decides that. And outside the request, because the timer would
    // keep it in memory until the end of the window.
    const { consumedPoints, msBeforeNext } = await outside(() => this.#limiter(windowMs).penalty(key));
    // The library converts to fractional seconds and back.
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

/** Rounds up so that converting back never returns less: 1001 / 1000 * 1000 is below 1001. */
function toSeconds(ms: number): number {
  const seconds = ms / 1000;
  return seconds * 1000 < ms ? seconds * (1 + Number.EPSILON) : seconds;
}
