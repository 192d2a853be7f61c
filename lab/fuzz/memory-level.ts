import type { FuzzTarget } from "./fuzz-target.ts";

const WARM_UP_ROUNDS = 3;
const MAX_GROWTH_BYTES: number = 12 * 1024 ** 2;
const SETTLING = 5;

/** Compares the heap after each round with that after the first ones, which fill the caches. */
export class MemoryLevel {
  readonly heaps: number[] = [];

  /** A sentence if the heap does not return to its level. */
  async check(target: Pick<FuzzTarget, "restingHeap" | "probe">): Promise<string | null> {
    let heap = await target.restingHeap();
    if (heap === null) return null;
    const isWarm = this.heaps.length >= WARM_UP_ROUNDS;
    const most = isWarm
      ? Math.max(...this.heaps.slice(0, WARM_UP_ROUNDS)) + MAX_GROWTH_BYTES
      : Number.POSITIVE_INFINITY;
    for (let left = SETTLING; left > 0 && heap > most; left--) {
      await target.probe();
      heap = (await target.restingHeap()) ?? heap;
    }
    this.heaps.push(heap);
    return heap <= most
      ? null
      : `the heap has ${megabytes(heap)} MB after a collection, at most ${megabytes(most)} MB expected`;
  }
}

export function megabytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(1);
}
