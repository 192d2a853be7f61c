import { readFileSync } from "node:fs";

/** The time of all cores so far, and the part that the host of a virtual machine gave to others, in ticks. */
interface CoreTime {
  readonly total: number;
  readonly stolen: number;
}

/** Returns a function that says which share of the time since this call the host has given to others; 0 except on Linux. */
export function stolenTime(): () => number {
  const before = coreTime();
  return () => {
    const now = coreTime();
    return (now.stolen - before.stolen) / Math.max(1, now.total - before.total);
  };
}

function coreTime(): CoreTime {
  if (process.platform !== "linux") return { total: 0, stolen: 0 };
  // user, nice, system, idle, iowait, irq, softirq, steal
  const [, ...ticks] = readFileSync("/proc/stat", "utf8").split("\n", 1).join().split(/\s+/, 9).map(Number);
  return { total: ticks.reduce((sum, part) => sum + part, 0), stolen: ticks.at(-1) ?? 0 };
}
