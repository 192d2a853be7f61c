/**
 * The promise that `apaginate` returns. It knows whether it is awaited: if a handler neither returned nor awaited it, the
 * response would be a 204 instead of the page, and a failing page would end the process.
 */
export class PagePromise<T> extends Promise<T> {
  #isTaken = false;

  /** Derived promises are plain ones. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  static of<T>(page: Promise<T>): PagePromise<T> {
    const promise = new PagePromise<T>((resolve, reject) => {
      page.then(resolve, reject);
    });
    // A page that is not awaited is reported when the handler has ended, not as an unhandled rejection.
    void Promise.prototype.then.call(promise, undefined, () => {});
    return promise;
  }

  get isTaken(): boolean {
    return this.#isTaken;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- `await` and `return` call it, which is how a waiting handler is noticed
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#isTaken = true;
    return super.then(onFulfilled, onRejected);
  }
}
