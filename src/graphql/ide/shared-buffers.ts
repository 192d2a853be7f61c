/** Buffers that everybody who uses them at the same time shares; once nobody does, they may go. */
export class SharedBuffers {
  readonly #made = new Map<string, WeakRef<Buffer>>();
  readonly #making = new Map<string, Promise<Buffer>>();

  /** The buffer of this key, made where there is none. */
  async get(key: string, make: () => Promise<Buffer>): Promise<Buffer> {
    const known = this.#made.get(key)?.deref();
    if (known !== undefined) return known;
    const making = this.#making.get(key) ?? this.#make(key, make);
    return making;
  }

  #make(key: string, make: () => Promise<Buffer>): Promise<Buffer> {
    const making = make()
      .then((buffer) => {
        // Keys are few: a title, an address, a way of compressing. Those whose buffer is gone are let go here.
        for (const [old, made] of this.#made) if (made.deref() === undefined) this.#made.delete(old);
        this.#made.set(key, new WeakRef(buffer));
        return buffer;
      })
      .finally(() => this.#making.delete(key));
    this.#making.set(key, making);
    return making;
  }
}
