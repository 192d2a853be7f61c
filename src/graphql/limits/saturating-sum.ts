/** The largest count: nested fragments can exceed the safe integers and even reach `Infinity`. */
const MAX: number = Number.MAX_SAFE_INTEGER;

/** The sum of two counts, at most the largest count. */
export function saturatingSum(a: number, b: number): number {
  return Math.min(a + b, MAX);
}

/** The product of two counts, at most the largest count. */
export function saturatingProduct(a: number, b: number): number {
  return Math.min(a * b, MAX);
}
