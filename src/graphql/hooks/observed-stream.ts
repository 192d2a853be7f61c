import type { FormattedError } from "../errors/formatted-error.ts";

/** A response to an operation, or one event of it. An event without `data` has the errors that ended the stream. */
export interface Sent {
  readonly data?: unknown;
  readonly errors?: readonly FormattedError[];
}

/** The number of errors of a subscription that hooks receive, limited because it may run for days. */
const MAX_ERRORS = 100;

type Run = <R>(work: () => R) => R;

/** A stream that reports its end, with the errors that were sent, however it ends. */
export class ObservedStream<T extends { readonly body: Sent }> implements AsyncGenerator<T, void, void> {
  readonly #stream: AsyncGenerator<T, void, void>;
  readonly #inside: Run;
  readonly #onEnd: (errors: readonly FormattedError[]) => void;
  readonly #errors: FormattedError[] = [];

  constructor(stream: AsyncGenerator<T, void, void>, inside: Run, onEnd: (errors: readonly FormattedError[]) => void) {
    this.#stream = stream;
    this.#inside = inside;
    this.#onEnd = onEnd;
  }

  next(): Promise<IteratorResult<T, void>> {
    return this.#step(() => this.#stream.next());
  }

  return(): Promise<IteratorResult<T, void>> {
    return this.#step(() => this.#stream.return());
  }

  throw(error: unknown): Promise<IteratorResult<T, void>> {
    return this.#step(() => this.#stream.throw(error));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #step(work: () => Promise<IteratorResult<T, void>>): Promise<IteratorResult<T, void>> {
    return this.#inside(async () => {
      try {
        const step = await work();
        if (step.done !== true) keepErrors(this.#errors, step.value.body.errors);
        // After an event without data, the consumer does not read on.
        if (step.done === true || !("data" in step.value.body)) this.#onEnd(this.#errors);
        return step;
      } catch (error) {
        this.#onEnd(this.#errors);
        throw error;
      }
    });
  }
}

/** Adds the errors of an event to those that hooks receive. */
export function keepErrors(kept: FormattedError[], errors: readonly FormattedError[] = []): void {
  kept.push(...errors.slice(0, MAX_ERRORS - kept.length));
}
