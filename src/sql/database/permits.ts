import { unavailable } from "../../core/unavailable.ts";

/** Gives a permit back; a second call does nothing. */
export type Release = () => void;

/** So many may do something at once; the others wait in the order in which they came, and not for ever. */
export class Permits {
  readonly #timeoutMs: number;
  readonly #sentence: string;
  readonly #waiting: ((release: Release) => void)[] = [];
  #free: number;

  /** @param sentence what the error says to whoever has waited too long */
  constructor(count: number, timeoutMs: number, sentence: string) {
    this.#free = count;
    this.#timeoutMs = timeoutMs;
    this.#sentence = sentence;
  }

  async acquire(): Promise<Release> {
    if (this.#free > 0) {
      this.#free--;
      return this.#permit();
    }
    return new Promise((resolve, reject) => {
      const take = (release: Release): void => {
        clearTimeout(timer);
        resolve(release);
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(take), 1);
        reject(unavailable(this.#sentence));
      }, this.#timeoutMs);
      this.#waiting.push(take);
    });
  }

  /** Does something with a permit. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    try {
      return await work();
    } finally {
      release();
    }
  }

  #permit(): Release {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next(this.#permit());
    };
  }
}
