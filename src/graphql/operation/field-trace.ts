import type { Clock } from "../../core/clock.ts";
import { isPromise } from "../../core/maybe-promise.ts";

/** How long one field took in one operation. */
export interface FieldTiming {
  /** Type and name: `Book.author`. */
  readonly field: string;
  /** How often it was resolved. */
  readonly calls: number;
  /** The longest of its calls, in seconds. */
  readonly slowestSeconds: number;
}

/** How long the fields of one operation took, without the fields below them. */
export class FieldTrace {
  readonly #clock: Clock;
  readonly #fields = new Map<string, { calls: number; slowestSeconds: number }>();

  /** @internal */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The slowest fields, the slowest first. */
  slowest(count: number): readonly FieldTiming[] {
    return [...this.#fields]
      .map(([field, timing]) => ({ field, ...timing }))
      .toSorted((a, b) => b.slowestSeconds - a.slowestSeconds)
      .slice(0, count);
  }

  /** @internal Times one call, until its promise settles. */
  time(field: string, resolve: () => unknown): unknown {
    const started = this.#clock.monotonic();
    const record = (): void => this.#add(field, (this.#clock.monotonic() - started) / 1000);
    let value: unknown;
    try {
      value = resolve();
    } catch (error) {
      record();
      throw error;
    }
    if (isPromise(value)) value.then(record, record);
    else record();
    return value;
  }

  #add(field: string, seconds: number): void {
    const timing = this.#fields.get(field);
    if (timing === undefined) {
      this.#fields.set(field, { calls: 1, slowestSeconds: seconds });
      return;
    }
    timing.calls++;
    if (seconds > timing.slowestSeconds) timing.slowestSeconds = seconds;
  }
}
