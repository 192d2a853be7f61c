import { readFileSync } from "node:fs";

/** For how many milliseconds any process of this machine has waited for a core so far. Only Linux measures it. */
export function waitedForCpu(): number {
  try {
    return Number(/total=(\d+)/.exec(readFileSync("/proc/pressure/cpu", "utf8"))?.[1] ?? 0) / 1_000;
  } catch {
    return 0;
  }
}
