import { propertySeed, repeatedBy } from "../../../lab/seeds/property-seed.ts";

/** The number of comparisons. A million in ten parts: PORTICO_FUZZ=100000 PORTICO_SEED=0, then 1000000 and so on. */
const CASES = process.env["PORTICO_FUZZ"];

/**
 * Calls `compare` with one seed after the other until it has compared enough results. Returns how many it compared. The seeds are
 * the same in each run unless PORTICO_SEED is set.
 *
 * @param compare returns how many results it compared, 0 for an invalid operation
 */
export async function compareRandomly(usual: number, compare: (seed: number) => Promise<number>): Promise<number> {
  const cases = Number(CASES ?? usual);
  const first = propertySeed();
  const { stackTraceLimit } = Error;
  let compared = 0;
  let seed = first;
  // Most operations fail somewhere, and V8 would spend a quarter of the time on stacks that nothing reads.
  Error.stackTraceLimit = 0;
  try {
    for (; compared < cases; seed++) compared += await compare(seed);
  } catch (error) {
    throw new Error(`After ${compared} equal results: ${String(error)}\n\n${repeatedBy(seed)}`, { cause: error });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  if (CASES !== undefined) process.stdout.write(`${compared} results are the same, seeds ${first} to ${seed - 1}\n`);
  return compared;
}
