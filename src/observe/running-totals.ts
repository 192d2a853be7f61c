/** The totals that operations and routes have in common. */
export interface TotalsRecord {
  readonly count: number;
  /** The number of operations with errors; for a route, of responses with a status of 500 or higher. */
  readonly errors: number;
  /** Without subscriptions and sockets, as in the other durations: a subscription that is open for long is not slow. */
  readonly average_seconds: number;
  readonly slowest_seconds: number;
}

/** The durations that this share of the operations or requests did not exceed, at most 5 % off. */
export interface Percentiles {
  readonly p50_seconds: number;
  readonly p95_seconds: number;
  readonly p99_seconds: number;
}

/** The running totals of one operation name or one route. */
export class RunningTotals {
  readonly #durations = new Durations();
  #count = 0;
  #errors = 0;
  #timed = 0;
  #seconds = 0;

  /** @param seconds `null` if the duration says nothing, as for a subscription */
  add(seconds: number | null, isFailed: boolean): void {
    this.#count++;
    if (isFailed) this.#errors++;
    if (seconds === null) return;
    this.#timed++;
    this.#seconds += seconds;
    this.#durations.add(seconds);
  }

  record(): TotalsRecord {
    return {
      count: this.#count,
      errors: this.#errors,
      average_seconds: this.#timed === 0 ? 0 : this.#seconds / this.#timed,
      slowest_seconds: this.#durations.slowest,
    };
  }

  percentiles(): Percentiles {
    return {
      p50_seconds: this.#durations.percentile(0.5),
      p95_seconds: this.#durations.percentile(0.95),
      p99_seconds: this.#durations.percentile(0.99),
    };
  }
}

/** The upper bound of the first bucket in seconds, and the ratio of each bound to the one before it. */
const FIRST = 1e-5;
const RATIO = 1.1;
/** The last bucket begins at about 100 seconds. */
const BUCKETS = 170;

/** Counts durations in buckets, so that percentiles need a fixed amount of memory. A percentile is at most 5 % off. */
class Durations {
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
