/** The helpers that graphql 17 passes to resolvers in `info`. They are created for the first resolver that uses them. */
export class ResolverSignal {
  #controller: AbortController | null = null;
  #isAborted = false;
  #helpers: AsyncHelpers | null = null;

  readonly getAbortSignal = (): AbortSignal => {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort();
    }
    return this.#controller.signal;
  };

  readonly getAsyncHelpers = (): AsyncHelpers => (this.#helpers ??= { promiseAll, track });

  /** Aborts the signal, because the execution has ended. */
  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort();
  }
}

interface AsyncHelpers {
  readonly promiseAll: (values: readonly unknown[]) => Promise<unknown[]>;
  readonly track: (values: readonly unknown[]) => void;
}

function promiseAll(values: readonly unknown[]): Promise<unknown[]> {
  const all = Promise.all(values);
  all.then(undefined, () => track(values));
  return all;
}

/** Handles rejections that nothing else waits for. */
function track(values: readonly unknown[]): void {
  for (const value of values)
    if (typeof (value as PromiseLike<unknown> | null | undefined)?.then === "function")
      (value as PromiseLike<unknown>).then(ignore, ignore);
}

const ignore = (): void => {};
