/** A value, or a promise for it. */
export type MaybePromise<T> = T | Promise<T>;

/** Whether `value` has to be awaited. Callers check first, so that a value that is already there does not wait for a tick. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
