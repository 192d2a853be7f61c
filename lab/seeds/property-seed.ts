/** The seed of the gate and of every run that sets none: a change is judged by the same inputs each time. */
const FIXED = 20_261_117;

/**
 * The seed of all random inputs in tests: PORTICO_SEED, or a fixed one. A failing test prints it.
 *
 * @throws RangeError if it is not a whole number from 0 to 2,147,483,647
 */
export function propertySeed(given: string | undefined = process.env["PORTICO_SEED"]): number {
  if (given === undefined || given === "") return FIXED;
  const seed = Number(given);
  if (!/^\d+$/.test(given) || seed >= 2 ** 31)
    throw new RangeError(`a seed is a whole number from 0 to 2147483647, not ${given}`);
  return seed;
}

/** The number of inputs of a costly property: in the gate as given, and ten times as many in a search with a seed of its own. */
export function runs(count: number): number {
  return process.env["PORTICO_SEED"] === undefined ? count : 10 * count;
}

/** The last sentence of a failure's message. `npm run nightly` reads the seed from it. */
export function repeatedBy(seed: number): string {
  return `Repeat it with PORTICO_SEED=${seed}`;
}
