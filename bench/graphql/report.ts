/** Tells the parent process the port, and the CPU time used so far whenever it asks. */
export function report(port: number): void {
  process.send?.(port);
  process.on("disconnect", () => process.exit());
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
}

/** The load is checked as always, but a server that the benchmark saturates on a busy machine must not reject requests. */
export const PATIENT = { maxWaitMs: 60_000, maxEventLoopDelayMs: 60_000 } as const;
