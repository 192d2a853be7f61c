import { Worker } from "node:worker_threads";

const RETRY_MS = 500;

/** Ends the process with SIGKILL after this time, even if its main thread is blocked. An earlier exit ends the watch. */
export function killAfter(ms: number): void {
  const watch = new Worker(WATCHDOG, {
    eval: true,
    workerData: ms,
    stdout: true,
    stderr: true,
    // Without limits, it reserves so much memory that a process with a limit of its own would be aborted.
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, codeRangeSizeMb: 8 },
  });
  // No thread starts without free file descriptors or memory. A shutdown frees some, and must not fail because of the watch.
  watch.on("error", () => {
    if (ms > RETRY_MS) setTimeout(() => killAfter(ms - RETRY_MS), RETRY_MS).unref();
  });
  watch.unref();
}

const WATCHDOG = `setTimeout(() => process.kill(process.pid, "SIGKILL"), require("node:worker_threads").workerData)`;
