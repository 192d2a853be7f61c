/**
 * The promise that `apaginate` gives. It knows whether anybody waits for it: one that a handler neither returns nor awaits
 * would answer 204 in the place of the page, and end the process when the page fails.
 */
export class PagePromise<T> extends Promise<T> {
  #isTaken = false;

  /** Starts no chain of its own kind. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  static of<T>(page: Promise<T>): PagePromise<T> {
    const promise = new PagePromise<T>((resolve, reject) => {
      page.then(resolve, reject);
    });
    // What nobody waits for is told when the handler has ended, not as a rejection that nobody handles.
    void Promise.prototype.then.call(promise, undefined, () => {});
    return promise;
  }

  get isTaken(): boolean {
    return this.#isTaken;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- whoever waits for a promise calls this, and so do `await` and `return`
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#isTaken = true;
    return super.then(onFulfilled, onRejected);
  }
}
