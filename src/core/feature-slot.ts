/** An object with room for the values of features. */
export interface Slotted {
  /** `null` while all slots are empty. */
  slots: unknown[] | null;
}

let count = 0;

/** The value of one feature in each context, so that the context itself knows nothing about the feature. */
export class FeatureSlot<T> {
  readonly #at = count++;
  readonly #empty: T;

  constructor(empty: T) {
    this.#empty = empty;
  }

  of({ slots }: Slotted): T {
    const value = slots?.[this.#at];
    return value === undefined ? this.#empty : (value as T);
  }

  put(owner: Slotted, value: T): void {
    owner.slots ??= [];
    owner.slots[this.#at] = value;
  }
}
