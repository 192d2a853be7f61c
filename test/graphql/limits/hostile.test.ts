import { describe } from "vitest";
import { threadCpuMs } from "../../thread-cpu-ms.ts";
import { hostileDocuments } from "./hostile-documents.ts";

/** It takes about 5 ms, and seconds if the limits are checked too late. hostile.quiet.test.ts measures it. */
const MAX_MS = 200;
const ROUNDS = 5;

describe("a hostile document is rejected after little work", () => {
  hostileDocuments(leastCpuOf, () => MAX_MS);
});

/** The compiler and the garbage collector add to some runs, and nothing takes away from one. */
function leastCpuOf(run: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS && least >= MAX_MS; round++) {
    const before = threadCpuMs();
    run();
    least = Math.min(least, threadCpuMs() - before);
  }
  return least;
}
