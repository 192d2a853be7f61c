import { Durations } from "./durations.ts";

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
export class Totals {
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
