import { appendFileSync, existsSync } from "node:fs";
import { type Profiler, Session } from "node:inspector";
import { join } from "node:path";
import { isMainThread, threadId } from "node:worker_threads";

// `setup.ts` loads this into each process that a test starts. It writes the addresses of the modules in which a function runs.
const folder = process.env["PORTICO_RECORD_PROCESSES"];
/** A process that is killed has written what ran until then. */
const EVERY_MS = 1_000;

if (folder !== undefined) {
  const file = join(folder, `${process.pid}${isMainThread ? "" : `-${threadId}`}`);
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: false, detailed: false });
  const write = (): void =>
    session.post("Profiler.takePreciseCoverage", (_error, taken) => {
      const ran = taken?.result.filter(hasRun).map(({ url }) => `${url}\n`) ?? [];
      // The folder is gone when the test file has ended.
      if (ran.length > 0 && existsSync(folder)) appendFileSync(file, ran.join(""));
    });
  setInterval(write, EVERY_MS).unref();
  process.on("exit", write);
}

/** The function around a module says only that it was loaded. A module without functions is used as soon as it is. */
function hasRun({ url, functions }: Profiler.ScriptCoverage): boolean {
  if (!url.startsWith("file:")) return false;
  const inside = functions.flatMap(({ ranges }) => ranges.slice(0, 1)).filter(({ startOffset }) => startOffset > 0);
  return inside.length === 0 || inside.some(({ count }) => count > 0);
}
