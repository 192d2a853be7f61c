import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sourceDigest } from "./source-digest.ts";

/** One test that the runner reported. */
export interface ReportedTest {
  readonly title: string;
  readonly status: string;
}

/** What the tests that name an id say of it: proved only when every one of them ran and passed. */
export type Outcome = "passed" | "failed" | "skipped";

/** The runner's JSON report, written by `npm test`. */
export const reportPath = ".cache/vitest-report.json";

/** The hash of the sources when that run began. */
export const digestPath = ".cache/vitest-report.sources";

interface JsonReport {
  readonly testResults: readonly { readonly assertionResults: readonly ReportedTest[] }[];
}

/** The tests of the last `npm test`. Throws, saying what to run, when there is no report. */
export function readReport(path: string = reportPath): ReportedTest[] {
  if (!existsSync(path)) throw new Error(`there is no test report at ${path}: run "npm test" first`);
  const report = JSON.parse(readFileSync(path, "utf8")) as JsonReport;
  return report.testResults.flatMap((file) => file.assertionResults);
}

/** Like `readReport`, but also throws if the sources are not those that were tested. */
export function readCurrentReport(root = "."): ReportedTest[] {
  const tests = readReport(join(root, reportPath));
  const digest = join(root, digestPath);
  if (!existsSync(digest) || readFileSync(digest, "utf8") !== sourceDigest(root))
    throw new Error(
      `the test report at ${reportPath} is older than the files in src, test or examples: run "npm test" again`,
    );
  return tests;
}

/** The ids in brackets at the start of a test's title: `[RES-02] [graphql:A7] reads ...`. */
export function idsInTitle(title: string): string[] {
  const brackets = /^(?:\[(?:[A-Z]+-\d+|[a-z]+:[A-Z]+-?\d+)\]\s*)+/.exec(title)?.[0] ?? "";
  return [...brackets.matchAll(/\[([^\]]+)\]/g)].map((match) => match[1] ?? "");
}

/** Each id that a title names, with what its tests say together. The worst outcome counts. */
export function outcomes(tests: readonly ReportedTest[]): Map<string, Outcome> {
  const found = new Map<string, Outcome>();
  for (const { title, status } of tests) {
    for (const id of idsInTitle(title)) found.set(id, worse(found.get(id), outcomeOf(status)));
  }
  return found;
}

function outcomeOf(status: string): Outcome {
  if (status === "passed" || status === "failed") return status;
  return "skipped";
}

function worse(a: Outcome | undefined, b: Outcome): Outcome {
  if (a === "failed" || b === "failed") return "failed";
  return a === "skipped" || b === "skipped" ? "skipped" : "passed";
}
