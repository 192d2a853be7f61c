/** Counts stop here: fragments that spread fragments reach numbers that are no longer whole, then `Infinity`. */
const MOST: number = Number.MAX_SAFE_INTEGER;

/** The sum of two counts. */
export function saturatingSum(a: number, b: number): number {
  return Math.min(a + b, MOST);
}

/** The product of two counts. */
export function saturatingProduct(a: number, b: number): number {
  return Math.min(a * b, MOST);
}
