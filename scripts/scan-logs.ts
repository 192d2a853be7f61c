import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

/** What one test file met. */
export interface ScanFigures {
  readonly credentials: number;
  readonly lines: number;
  readonly errorBodies: number;
}

/** The run in one line. */
export function summary(files: readonly ScanFigures[]): string {
  const sum = (key: keyof ScanFigures): string =>
    files.reduce((total, figures) => total + figures[key], 0).toLocaleString("en");
  return `${sum("credentials")} credentials looked for in ${sum("lines")} log lines and ${sum("errorBodies")} error bodies of ${files.length} test files`;
}

// Runs the suite, or the files that are named, with every log at trace: a credential in a log line or an error body fails it.
if (import.meta.main) {
  // Several scans may run at once.
  const folder = `.cache/log-scan/${process.pid}`;
  rmSync(folder, { recursive: true, force: true });
  const { status } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", "--typecheck.enabled=false", ...process.argv.slice(2)],
    { stdio: "inherit", env: { ...process.env, PORTICO_LOG_SCAN: "1", PORTICO_LOG_SCAN_FOLDER: folder } },
  );
  const files = readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as ScanFigures);
  rmSync(folder, { recursive: true });
  console.log(`${summary(files)}: ${status === 0 ? "none is there" : "see what failed above"}`);
  process.exitCode = status ?? 1;
}
