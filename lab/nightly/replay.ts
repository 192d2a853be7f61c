import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FailingSeed, TestReport } from "./failing-seeds.ts";

export interface Replayed {
  /** How many tests of that name passed. */
  readonly passed: number;
  /** The messages of those that failed. */
  readonly failed: readonly string[];
}

/** Runs one test in another process, with the seed that it once failed with. */
export async function replay({ file, test, seed }: Omit<FailingSeed, "day">): Promise<Replayed> {
  const place = mkdtempSync(join(tmpdir(), "replay-"));
  const report = join(place, "report.json");
  try {
    const name = `^${test.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)}$`;
    const vitest = ["node_modules/vitest/vitest.mjs", "run", "--typecheck.enabled=false", file, "-t", name];
    const child = spawn(process.execPath, [...vitest, "--reporter=json", `--outputFile=${report}`], {
      cwd: join(import.meta.dirname, "../.."),
      env: { ...process.env, PORTICO_SEED: String(seed), VITEST: undefined, VITEST_POOL_ID: undefined },
      stdio: "ignore",
    });
    await once(child, "close");
    const { testResults } = JSON.parse(readFileSync(report, "utf8")) as TestReport;
    const ran = testResults.flatMap(({ assertionResults }) => assertionResults);
    return {
      passed: ran.filter(({ status }) => status === "passed").length,
      failed: [
        // Of files that could not be loaded.
        ...testResults.flatMap(({ message }) => (message === undefined || message === "" ? [] : [message])),
        ...ran.filter(({ status }) => status === "failed").flatMap(({ failureMessages }) => failureMessages),
      ],
    };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
