import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";

/** Work that may have to wait for promises. It is written once, for sources of both kinds. */
export type Steps<T> = Generator<unknown, T, unknown>;

/** Waits for a value inside steps. */
export function* wait<T>(value: MaybePromise<T>): Steps<T> {
  return (yield value) as T;
}

/** Runs the steps. The result is a promise only if one of them has to wait. */
export function run<T>(steps: Steps<T>): MaybePromise<T> {
  return runFrom(steps, steps.next());
}

/** Runs the steps and always returns a promise: an error of the first step rejects it. */
export async function runLater<T>(steps: Steps<T>): Promise<T> {
  return run(steps);
}

function runFrom<T>(steps: Steps<T>, start: IteratorResult<unknown, T>): MaybePromise<T> {
  let step = start;
  for (; step.done !== true; step = steps.next(step.value))
    if (isPromise(step.value))
      return Promise.resolve(step.value).then(
        (value) => runFrom(steps, steps.next(value)),
        (error: unknown) => runFrom(steps, steps.throw(error)),
      );
  return step.value;
}
