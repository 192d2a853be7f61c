const FIRST_CAPACITY = 4_096;

/** A growing buffer. It copies chunks, so that a client that sends single bytes does not cost one object for each. */
export class ByteBuffer {
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#bytes.length, FIRST_CAPACITY));
      this.view().copy(grown);
      this.#bytes = grown;
    }
    chunk.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  /** The content, valid until the next change. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** A copy of exactly the size of the content. */
  toBytes(): Buffer {
    const exact = Buffer.allocUnsafeSlow(this.#length);
    this.view().copy(exact);
    return exact;
  }

  clear(): void {
    this.#length = 0;
  }
}
