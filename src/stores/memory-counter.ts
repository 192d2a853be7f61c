import { outsideRequest } from "../core/outside-request.ts";
import { CountedKeys } from "./counted-keys.ts";
import { type Count, type CounterStore, checkReservation, checkWindow, type Reservation } from "./counter-store.ts";
import { storeKey } from "./store-key.ts";

/** This many keys take about 40 MB. */
const MAX_KEYS = 100_000;

/** A counter from its first hit to the end of its window. */
interface Window {
  value: number;
  readonly endsAt: number;
  readonly timer: NodeJS.Timeout;
}

/**
 * Counts in the memory of this process, so a limit applies to each process separately.
 *
 * A counter is dropped at the end of its window, by a timer that does not keep the process alive. There are at most 100,000;
 * beyond that the keys with the lowest counts are dropped.
 */
export class MemoryCounter implements CounterStore {
  readonly #windows = new Map<string, Window>();
  #keys = new CountedKeys(MAX_KEYS);

  async increment(key: string, windowMs: number): Promise<Count> {
    checkWindow(windowMs);
    return countOf(this.#add(nameOf(key, windowMs), windowMs, 1));
  }

  async reserve(key: string, windowMs: number, units: number, limit: number): Promise<Reservation> {
    checkReservation(windowMs, units, limit);
    const name = nameOf(key, windowMs);
    const before = this.#open(name);
    if ((before?.value ?? 0) + units > limit) {
      const count = before === undefined ? { value: 0, resetAfterMs: windowMs } : countOf(before);
      return { ...count, isGranted: false, refund: async () => {} };
    }
    const window = this.#add(name, windowMs, units);
    return {
      ...countOf(window),
      isGranted: true,
      refund: async (returned) => {
        window.value = Math.max(0, window.value - returned);
      },
    };
  }

  async reset(key: string, windowMs: number): Promise<void> {
    checkWindow(windowMs);
    const name = nameOf(key, windowMs);
    this.#keys.forget(name);
    this.#drop(name);
  }

  async resetAll(): Promise<void> {
    for (const name of this.#windows.keys()) this.#drop(name);
    this.#keys = new CountedKeys(MAX_KEYS);
  }

  #add(name: string, windowMs: number, units: number): Window {
    const window = this.#open(name) ?? this.#begin(name, windowMs);
    window.value += units;
    const dropped = this.#keys.note(name, window.value, window.endsAt);
    if (dropped !== null) this.#drop(dropped);
    return window;
  }

  /** The window that has not ended yet. Its timer may be late. */
  #open(name: string): Window | undefined {
    const window = this.#windows.get(name);
    return window === undefined || window.endsAt <= Date.now() ? undefined : window;
  }

  #begin(name: string, windowMs: number): Window {
    this.#drop(name);
    // Outside the request, because the timer would keep it in memory until the end of the window.
    const timer = outsideRequest(() => setTimeout(() => this.#drop(name), windowMs).unref());
    const window = { value: 0, endsAt: Date.now() + windowMs, timer };
    this.#windows.set(name, window);
    return window;
  }

  #drop(name: string): void {
    clearTimeout(this.#windows.get(name)?.timer);
    this.#windows.delete(name);
  }
}

/** One key with two lengths of windows has two counters. */
function nameOf(key: string, windowMs: number): string {
  return `${windowMs} ${storeKey(key)}`;
}

function countOf({ value, endsAt }: Window): Count {
  return { value, resetAfterMs: Math.max(0, endsAt - Date.now()) };
}
