/** Buffers that concurrent users share. A buffer can be garbage-collected when it is no longer in use. */
export class SharedBuffers {
  readonly #made = new Map<string, WeakRef<Buffer>>();
  readonly #making = new Map<string, Promise<Buffer>>();

  /** Returns the buffer of this key, or makes it. */
  async get(key: string, make: () => Promise<Buffer>): Promise<Buffer> {
    const known = this.#made.get(key)?.deref();
    if (known !== undefined) return known;
    const making = this.#making.get(key) ?? this.#make(key, make);
    return making;
  }

  #make(key: string, make: () => Promise<Buffer>): Promise<Buffer> {
    const making = make()
      .then((buffer) => {
        // There are few keys, one per page and compression. Those of collected buffers are removed here.
        for (const [old, made] of this.#made) if (made.deref() === undefined) this.#made.delete(old);
        this.#made.set(key, new WeakRef(buffer));
        return buffer;
      })
      .finally(() => this.#making.delete(key));
    this.#making.set(key, making);
    return making;
  }
}
