/** A value, or a promise for it. */
export type MaybePromise<T> = T | Promise<T>;

/** Whether `value` has to be awaited. Callers check first, so that a value that is already there does not wait for a tick. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/**
 * Passes a value on: at once if it is there, otherwise when it is. Code that runs for every field, and would need a closure for
 * it, asks `isPromise` itself.
 */
export function andThen<T, R>(value: MaybePromise<T>, use: (value: T) => MaybePromise<R>): MaybePromise<R> {
  // The `then` of a query builder or another thenable may return anything.
  return isPromise(value) ? Promise.resolve(value).then(use) : use(value);
}

/** Does the work, and calls `recover` with the error if it throws or rejects. */
export function orElse<T>(work: () => MaybePromise<T>, recover: (error: unknown) => MaybePromise<T>): MaybePromise<T> {
  try {
    const result = work();
    return isPromise(result) ? Promise.resolve(result).then(undefined, recover) : result;
  } catch (error) {
    return recover(error);
  }
}

/** Calls back with all values, at once if none of them has to be awaited. */
export function whenAll<T, R>(values: readonly MaybePromise<T>[], use: (values: readonly T[]) => R): MaybePromise<R> {
  if (!values.some(isPromise)) return use(values as readonly T[]);
  return Promise.all(values.map((value) => Promise.resolve(value))).then(use);
}
