import { threadCpuMs } from "../../thread-cpu-ms.ts";

const ROUNDS = 4;
/** The kernel counts CPU time in steps of some milliseconds. Below this a run is seldom interrupted, and a clock is exact. */
const SHORT_MS = 2;
const BATCH_MS = 40;

/**
 * The CPU time of one run at each size, in milliseconds. Other processes may slow a run down and cannot speed it up, so the
 * fastest of some rounds is taken, and each round measures all sizes.
 */
export async function cpuBySize(runs: readonly (() => Promise<unknown>)[]): Promise<readonly number[]> {
  const best = runs.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, run] of runs.entries()) best[index] = Math.min(best[index] as number, await clocked(run));
  }
  for (const [index, run] of runs.entries()) {
    const shortest = best[index] as number;
    if (shortest > SHORT_MS) best[index] = Math.min(shortest, await averaged(run));
  }
  return best;
}

async function clocked(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/** Of a batch that is long enough, the CPU time is exact, however often it was interrupted. */
async function averaged(run: () => Promise<unknown>): Promise<number> {
  const before = threadCpuMs();
  for (let times = 1; ; times++) {
    await run();
    const spentMs = threadCpuMs() - before;
    if (spentMs > BATCH_MS) return spentMs / times;
  }
}
