/** Receives the outcome of a `Pending`. */
export interface Owner {
  settled(value: unknown, key: string | number): void;
  failed(error: unknown, key: string | number): void;
}

/** A completed value that is not there yet. It has one owner and settles once, never before its owner is set. */
export class Pending {
  owner: Owner = NO_OWNER;
  /** The place of the value in its owner. */
  key: string | number = 0;

  /** Sets the owner. An owner of one value needs no key. */
  belongsTo(owner: Owner, key: string | number = 0): this {
    this.owner = owner;
    this.key = key;
    return this;
  }

  settle(value: unknown): void {
    this.owner.settled(value, this.key);
  }

  fail(error: unknown): void {
    this.owner.failed(error, this.key);
  }
}

/** Owns the values of a list or an object that has already failed: nothing waits for them. */
const NO_OWNER: Owner = { settled: () => {}, failed: () => {} };

/** Whether a value has to be awaited. Unlike `isPromise`, it accepts functions with a method `then`, as graphql does. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    typeof (value as { readonly then?: unknown }).then === "function"
  );
}

/** Calls back when a promise settles. A foreign promise may call back several times or at once, so it is wrapped. */
export function whenSettled(
  promise: PromiseLike<unknown>,
  onValue: (value: unknown) => void,
  onError: (error: unknown) => void,
): void {
  void (promise instanceof Promise ? promise : Promise.resolve(promise)).then(onValue, onError);
}

/** Continues with the value of a promise. `next` may throw, and may return a `Pending`. */
export function after(promise: PromiseLike<unknown>, next: (value: unknown) => unknown): Pending {
  const pending = new Pending();
  whenSettled(
    promise,
    (value) => forward(() => next(value), pending),
    (error) => pending.fail(error),
  );
  return pending;
}

/** Passes the outcome of a step to a `Pending`. */
export function forward(step: () => unknown, to: Pending): void {
  let value: unknown;
  try {
    value = step();
  } catch (error) {
    to.fail(error);
    return;
  }
  if (value instanceof Pending)
    value.belongsTo({ settled: (later) => to.settle(later), failed: (error) => to.fail(error) });
  else to.settle(value);
}
