/** Keys by a number that changes, of which the largest is found without comparing all of them: a binary heap. */
export class LargestFirst<K> {
  readonly #keys: K[] = [];
  readonly #sizes: number[] = [];
  readonly #places = new Map<K, number>();

  /** The key with the largest number; `undefined` if there is none. */
  largest(): K | undefined {
    return this.#keys[0];
  }

  set(key: K, size: number): void {
    const at = this.#places.get(key) ?? this.#keys.length;
    this.#put(at, key, size);
    this.#sink(this.#rise(at));
  }

  delete(key: K): void {
    const at = this.#places.get(key);
    if (at === undefined) return;
    this.#places.delete(key);
    const [last, size] = [this.#keys.pop() as K, this.#sizes.pop() as number];
    if (at === this.#keys.length) return;
    this.#put(at, last, size);
    this.#sink(this.#rise(at));
  }

  #put(at: number, key: K, size: number): void {
    this.#keys[at] = key;
    this.#sizes[at] = size;
    this.#places.set(key, at);
  }

  #rise(from: number): number {
    let at = from;
    for (let above = (at - 1) >> 1; at > 0 && this.#size(above) < this.#size(at); above = (at - 1) >> 1) {
      this.#swap(at, above);
      at = above;
    }
    return at;
  }

  #sink(from: number): void {
    for (let at = from; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const below = this.#size(right) > this.#size(left) ? right : left;
      if (this.#size(below) <= this.#size(at)) return;
      this.#swap(at, below);
      at = below;
    }
  }

  #size(at: number): number {
    return this.#sizes[at] ?? Number.NEGATIVE_INFINITY;
  }

  #swap(one: number, other: number): void {
    const [key, size] = [this.#keys[one] as K, this.#size(one)];
    this.#put(one, this.#keys[other] as K, this.#size(other));
    this.#put(other, key, size);
  }
}
