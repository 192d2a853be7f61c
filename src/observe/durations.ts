/** The upper bound of the first bucket in seconds, and the ratio of each bound to the one before it. */
const FIRST = 1e-5;
const RATIO = 1.1;
/** The last bucket begins at about 100 seconds. */
const BUCKETS = 170;

/** Counts durations in buckets, so that percentiles need a fixed amount of memory. A percentile is at most 5 % off. */
export class Durations {
  readonly #buckets = new Uint32Array(BUCKETS);
  #count = 0;
  #slowest = 0;

  add(seconds: number): void {
    const bucket = seconds <= FIRST ? 0 : Math.ceil(Math.log(seconds / FIRST) / Math.log(RATIO));
    const index = Math.min(bucket, BUCKETS - 1);
    this.#buckets[index] = (this.#buckets[index] ?? 0) + 1;
    this.#count++;
    this.#slowest = Math.max(this.#slowest, seconds);
  }

  get slowest(): number {
    return this.#slowest;
  }

  /** The duration that this share of the durations does not exceed; 0 without durations. */
  percentile(share: number): number {
    if (this.#count === 0) return 0;
    let left = Math.ceil(this.#count * share);
    const index = this.#buckets.findIndex((count) => (left -= count) <= 0);
    // The middle of the bucket, by ratio. All durations in the last one are at least this long.
    return Math.min(FIRST * RATIO ** (index - 0.5), this.#slowest);
  }
}
