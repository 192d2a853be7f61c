import type { Reporter, TestCase } from "vitest/node";

/** Lists the tests that only passed when they ran again, so that a retry hides no fault. */
export default class RetriedReporter implements Reporter {
  private readonly retried: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky === true) this.retried.push(`${test.module.relativeModuleId} > ${test.fullName}`);
  }

  onTestRunEnd(): void {
    if (this.retried.length > 0) console.log(`passed only when repeated:\n${this.retried.join("\n")}`);
  }
}
