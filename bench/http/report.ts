/** Tells the parent the port, and the CPU used so far whenever it asks. */
export function report(port: number): void {
  process.send?.(port);
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
}
