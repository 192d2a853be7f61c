import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The bytes in use after a garbage collection. */
export function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}
