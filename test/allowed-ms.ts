const TEXT = JSON.stringify(
  Array.from({ length: 2_000 }, (_, n) => ({ id: n, title: `book ${n}`, stars: [n, n + 1] })),
);
const ROUNDS = 10;
/** The CPU time of the work below on the machine that the limits were set on, in milliseconds. */
const USUAL_MS = 13;

/**
 * A limit of CPU time for the machine as it is now. A neighbour on the same core can double all CPU times, so the limit grows with
 * the time that fixed work takes. It never shrinks.
 */
export function allowedMs(ms: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 3; attempt++) {
    const before = process.cpuUsage();
    for (let round = 0; round < ROUNDS; round++) JSON.parse(TEXT);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return ms * Math.max(1, least / USUAL_MS);
}
