import * as fc from "fast-check";

/**
 * Random decisions, read from numbers that fast-check draws. After the last number every decision is the first choice, so
 * generators list the plainest choice first, and a shorter tape or a smaller number is a plainer input.
 */
export class Tape {
  readonly #numbers: readonly number[];
  #position = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** A whole number from 0 up to, but not including, `end`. */
  below(end: number): number {
    const number = this.#numbers[this.#position++] ?? 0;
    return end <= 1 ? 0 : number % end;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  /** The usual value, or in one of six cases another one. */
  mostly<T>(usual: T, others: readonly T[]): T {
    return this.below(6) === 5 ? this.pick(others) : usual;
  }

  /** True in one of `times` cases. */
  oneIn(times: number): boolean {
    return this.below(times) === times - 1 && times > 1;
  }

  /** Up to `most` values. */
  some<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }
}

const MAX_NUMBER = 0xffff;
const MAX_LENGTH = 120;

export const tapes: fc.Arbitrary<readonly number[]> = fc.noBias(
  fc.array(fc.nat({ max: MAX_NUMBER }), { maxLength: MAX_LENGTH, size: "max" }),
);
