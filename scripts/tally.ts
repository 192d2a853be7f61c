import { type ReportedTest, readReport } from "./spec/report.ts";

/** The run in one line: `12 passed, 0 failed`, and what was skipped when there is any. */
export function tally(tests: readonly ReportedTest[]): string {
  const passed = tests.filter(({ status }) => status === "passed").length;
  const failed = tests.filter(({ status }) => status === "failed").length;
  const skipped = tests.length - passed - failed;
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

if (import.meta.main) console.log(tally(readReport()));
