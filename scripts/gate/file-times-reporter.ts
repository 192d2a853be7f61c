import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import type { FileCost } from "./file-cost.ts";
import { FILES_PATH, type FileTimes } from "./file-times.ts";

/** Writes what each test file cost, for `npm run gate:times`. */
export default class FileTimesReporter implements Reporter {
  private readonly files: FileTimes[] = [];

  onTestModuleEnd(module: TestModule): void {
    const { cost } = module.meta() as { readonly cost?: FileCost };
    if (cost === undefined) return;
    const { collectDuration, setupDuration } = module.diagnostic();
    this.files.push({
      file: module.relativeModuleId,
      tests: [...module.children.allTests()].length,
      loadingMs: collectDuration + setupDuration,
      ...cost,
    });
  }

  onTestRunEnd(): void {
    mkdirSync(dirname(FILES_PATH), { recursive: true });
    writeFileSync(FILES_PATH, JSON.stringify(this.files, null, 1));
  }
}
