/**
 * Ends the process with this code, or with SIGKILL while a thread of the pool waits for a name server or a file: `process.exit`
 * would wait for that thread.
 */
export function exitAtOnce(code: number): void {
  // Added last, so the log is already written.
  process.once("exit", () => {
    if (process.getActiveResourcesInfo().some((name) => POOLED.test(name))) process.kill(process.pid, "SIGKILL");
  });
  process.exit(code);
}

const POOLED = /^(?:GetAddrInfoReq|GetNameInfoReq|FSReq)/;
