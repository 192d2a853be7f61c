import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname, "../..");

/** Runs every test, or some, with one mutant, also in their processes. Returns a test that notices it, or null. */
export function noticedBy(mutant: string | null, place: string, tests: readonly string[] = []): string | null {
  const report = join(place, "whole.json");
  mkdirSync(place, { recursive: true });
  const args = ["run", "--config", "lab/mutation/whole.config.ts", "--typecheck.enabled=false", "--bail=1"];
  const hook = pathToFileURL(join(import.meta.dirname, "mutated-process.ts")).href;
  const env = {
    ...process.env,
    PORTICO_INSTRUMENTED: place,
    NODE_OPTIONS: `--import=${hook}`,
    ...(mutant !== null && { __STRYKER_ACTIVE_MUTANT__: mutant }),
  };
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const reporter = ["--reporter=json", `--outputFile=${report}`];
  const { status } = spawnSync(process.execPath, [vitest, ...args, ...reporter, ...tests], { cwd: root, env });
  if (status === 0) return null;
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as { readonly testResults: readonly Result[] };
  const failed = testResults.find((result) => result.status === "failed")?.name;
  return failed === undefined ? "the run itself" : failed.slice(root.length + 1);
}

interface Result {
  readonly name: string;
  readonly status: string;
}
