import { isPromise, type MaybePromise } from "../core/maybe-promise.ts";

/** Work that may have to wait in places: written once, run at once or later. */
export type Steps<T> = Generator<unknown, T, unknown>;

/** Waits for a value inside of steps. */
export function* wait<T>(value: MaybePromise<T>): Steps<T> {
  return (yield value) as T;
}

/** Runs the steps at once. `refuse` makes the error for a value that has to be waited for. */
export function runNow<T>(steps: Steps<T>, refuse: () => Error): T {
  for (let step = steps.next(); ; ) {
    if (step.done === true) return step.value;
    if (isPromise(step.value)) {
      // It is nobody's business any more how it ends.
      Promise.resolve(step.value).catch(() => {});
      step = steps.throw(refuse());
    } else {
      step = steps.next(step.value);
    }
  }
}

/** Runs the steps, waiting where they do. */
export async function runLater<T>(steps: Steps<T>): Promise<T> {
  for (let step = steps.next(); ; ) {
    if (step.done === true) return step.value;
    if (!isPromise(step.value)) {
      step = steps.next(step.value);
      continue;
    }
    let value: unknown;
    try {
      value = await step.value;
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(value);
  }
}
