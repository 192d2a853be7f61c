import { isPromise, type MaybePromise } from "../maybe-promise.ts";

/**
 * A promise that notices whether something waits for it. `await`, `then`, `return` in an async function and `Promise.all` all read
 * its property `constructor`, synchronously and before anything else. Its own rejection is contained, because code that checks
 * `isTaken` reports a promise that nothing waits for.
 */
export class NoticedPromise<T> extends Promise<T> {
  #isTaken = false;
  #onTaken: (() => void) | null = null;

  /** Derived promises are plain ones. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /** @param onTaken is called when something first waits for the promise */
  static of<T>(
    work: () => MaybePromise<T>,
    onTaken: ((promise: NoticedPromise<T>) => void) | null = null,
  ): NoticedPromise<T> {
    let isFulfilled = false;
    const promise = new NoticedPromise<T>((resolve, reject) => {
      try {
        const value = work();
        isFulfilled = !isPromise(value);
        resolve(value);
      } catch (error) {
        reject(error);
      }
    });
    // Most checks are decided at once and allow access, and cost no second promise.
    if (!isFulfilled) void promise.catch(() => {});
    promise.#isTaken = false;
    if (onTaken !== null) promise.#onTaken = () => onTaken(promise);
    return promise;
  }

  get isTaken(): boolean {
    return this.#isTaken;
  }

  static {
    Reflect.defineProperty(this.prototype, "constructor", {
      get(this: NoticedPromise<unknown>) {
        // The prototype is not a promise itself.
        if (#isTaken in this && !this.#isTaken) {
          this.#isTaken = true;
          this.#onTaken?.();
        }
        return Promise;
      },
    });
  }
}
