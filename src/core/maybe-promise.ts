/** A value, or a promise for it. */
export type MaybePromise<T> = T | Promise<T>;

/** Whether `value` has to be awaited. Callers check first, so that a value that is already there does not wait for a tick. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** Calls back with all values, at once if none of them has to be awaited. */
export function whenAll<T, R>(values: readonly MaybePromise<T>[], use: (values: readonly T[]) => R): MaybePromise<R> {
  if (!values.some(isPromise)) return use(values as readonly T[]);
  return Promise.all(values.map((value) => Promise.resolve(value))).then(use);
}
