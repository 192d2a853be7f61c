import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The bytes in use when garbage collections free nothing more, also what other tests in this process have left behind. */
export async function heapAfterCollection(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  let used = Number.POSITIVE_INFINITY;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    collect();
    const { heapUsed } = process.memoryUsage();
    if (heapUsed > used - CHANGE_BYTES) return heapUsed;
    used = heapUsed;
    // Finalizers and callbacks that hold objects run between two turns.
    await nextTurn();
  }
  return used;
}

const MAX_ROUNDS = 20;
const CHANGE_BYTES = 20_000;
