import { unavailable } from "../../core/unavailable.ts";

/** Returns a permit. A second call has no effect. */
export type Release = () => void;

/** Limits how many callers run at once. The others wait in order, up to a timeout. */
export class Permits {
  readonly #timeoutMs: number;
  readonly #sentence: string;
  readonly #waiting: ((release: Release) => void)[] = [];
  readonly count: number;
  #free: number;

  /** @param sentence the message of the error after a timeout */
  constructor(count: number, timeoutMs: number, sentence: string) {
    this.count = count;
    this.#free = count;
    this.#timeoutMs = timeoutMs;
    this.#sentence = sentence;
  }

  /** The permits that no caller holds. */
  get free(): number {
    return this.#free;
  }

  /** The callers that wait for one. */
  get waiting(): number {
    return this.#waiting.length;
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

  /** Runs work with a permit. */
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
