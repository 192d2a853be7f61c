import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** Runs these test files, or all if there is no list, and returns Vitest's exit code. */
export function runTests(root: string, files: readonly string[] = []): number {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  // Vitest takes each argument as a part of a path, and the whole path selects one file only.
  const filters = files.map((file) => join(root, file));
  const { status } = spawnSync(process.execPath, [vitest, "run", ...filters], { cwd: root, stdio: "inherit" });
  return status ?? 1;
}
