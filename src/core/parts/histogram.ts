/** Upper bounds of the buckets, in seconds. They are fixed, so that Prometheus can add the buckets of several servers. */
const BOUNDS: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A histogram of durations in Prometheus' text format, version 0.0.4, for one set of labels. */
export class Histogram {
  /** The number of durations in each bucket: one bucket per bound, and one for longer durations. */
  readonly #buckets: number[] = Array.from({ length: BOUNDS.length + 1 }, () => 0);
  #count = 0;
  #seconds = 0;

  add(seconds: number): void {
    this.#count++;
    this.#seconds += seconds;
    let bucket = 0;
    while (seconds > (BOUNDS[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
  }

  print(name: string, labels: string): readonly string[] {
    let upTo = 0;
    const buckets = this.#buckets.map((inBucket, index) => {
      upTo += inBucket;
      return `${name}_bucket{${labels},le="${BOUNDS[index] ?? "+Inf"}"} ${upTo}`;
    });
    return [...buckets, `${name}_sum{${labels}} ${this.#seconds}`, `${name}_count{${labels}} ${this.#count}`];
  }
}
