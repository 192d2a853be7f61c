import type { Profiler } from "node:inspector";
import { fileURLToPath } from "node:url";

// Vitest evaluates "'use strict';async (...)=>{{...}}", so the function around a module starts here.
const WRAPPER = "'use strict';".length;

/**
 * The files in which a function ran, from V8's coverage of functions.
 *
 * Vite turns each export of a module into a getter. A getter that ran says that another module used the export, so this also
 * finds modules that consist of constants. The function around a module only says that the module was loaded. A module that
 * Node loaded itself has neither, so it is listed as soon as it is loaded.
 */
export function executedFiles(scripts: readonly Profiler.ScriptCoverage[]): string[] {
  return scripts
    .filter(({ url }) => url.startsWith("file:"))
    .filter(({ functions }) => {
      const ranges = functions.flatMap((called) => called.ranges.slice(0, 1));
      const isWrapped = ranges.some(({ startOffset }) => startOffset === WRAPPER);
      return ranges.some(({ startOffset, count }) => count > 0 && (startOffset > WRAPPER || !isWrapped));
    })
    .map(({ url }) => fileURLToPath(url));
}
