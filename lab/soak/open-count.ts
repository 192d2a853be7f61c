/** What the application holds open, counted by those who open it. */
export class OpenCount {
  dependencies = 0;
  iterators = 0;
  /** Since the start. */
  opened = 0;

  /** A dependency with teardown: open from its first use to its `finally`. */
  provider<T>(make: () => T): () => AsyncGenerator<T, void, void> {
    return () => this.#hold(make);
  }

  async *#hold<T>(make: () => T): AsyncGenerator<T, void, void> {
    this.opened++;
    this.dependencies++;
    try {
      yield make();
    } finally {
      this.dependencies--;
    }
  }

  /** The same iterator: live from its first value asked for to its end, however that comes. */
  async *iterate<T>(values: AsyncIterable<T>): AsyncGenerator<T, void, void> {
    this.opened++;
    this.iterators++;
    try {
      yield* values;
    } finally {
      this.iterators--;
    }
  }
}
