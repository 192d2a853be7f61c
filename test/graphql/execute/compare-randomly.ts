import { assert, asyncProperty, integer } from "fast-check";
import { expect } from "vitest";

/**
 * Calls `compare` with random seeds, the same ones in each run unless PORTICO_FUZZ sets their number. It returns whether it
 * compared anything, which at least this share of the seeds must do.
 */
export async function compareRandomly(
  cases: number,
  leastShare: number,
  compare: (seed: number) => Promise<boolean>,
): Promise<void> {
  let compared = 0;
  await assert(
    asyncProperty(integer({ min: 0, max: 0x7fffffff }), async (seed) => {
      if (await compare(seed)) compared++;
    }),
    { numRuns: cases, endOnFailure: true, ...(process.env["PORTICO_FUZZ"] === undefined ? { seed: 20 } : {}) },
  );
  expect(compared).toBeGreaterThan(cases * leastShare);
}
