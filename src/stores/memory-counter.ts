import { RateLimiterMemory } from "rate-limiter-flexible";
import { type Count, type CounterStore, checkWindow } from "./counter.ts";

/**
 * Counts in the memory of this process: a limit then holds for each process on its own.
 *
 * A counter is forgotten when its window is over, by a timer that keeps no process alive.
 */
export class MemoryCounter implements CounterStore {
  /** By length of the window: the same key under another length must not meet the window that is open. */
  readonly #limiters = new Map<number, RateLimiterMemory>();

  async increment(key: string, windowMs: number): Promise<Count> {
    checkWindow(windowMs);
    // Not consume(), which rejects over a limit: what is too much is decided by whoever asks.
    const { consumedPoints, msBeforeNext } = await this.#limiter(windowMs).penalty(key);
    // Seconds with a fraction came out of milliseconds and went back into them.
    return { value: consumedPoints, resetAfterMs: Math.max(0, Math.round(msBeforeNext)) };
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
