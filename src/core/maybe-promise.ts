/** A value now, or the promise of one. */
export type MaybePromise<T> = T | Promise<T>;

/** Whether `value` has to be awaited. Checked before awaiting: what is there already must not wait for a tick. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
