import { monitorEventLoopDelay } from "node:perf_hooks";

/**
 * Tells the parent process the port, and whenever it asks: `"cpu"` for the CPU time used so far, in microseconds, `"block"` for
 * the longest time that the event loop was blocked since the last such question, in milliseconds.
 */
export function report(port: number): void {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  process.send?.(port);
  process.on("disconnect", () => process.exit());
  process.on("message", (question) => {
    if (question === "block") {
      delays.enable();
      // The delay is recorded by a timer, after the block.
      setTimeout(() => {
        process.send?.(delays.max / 1e6);
        delays.reset();
      }, 5);
      return;
    }
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
}

/** The load is checked as always, but a server that the benchmark saturates on a busy machine must not reject requests. */
export const PATIENT = { report: true } as const;
