import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take more than half a minute, the longest first. */
const LONG = [
  "test/access/gate-matrix.test.ts",
  "test/docs.test.ts",
  "test/redis/many-servers.test.ts",
  "examples/bookshop/test/browser.test.ts",
  "test/access/tracker/tracker.test.ts",
  "test/graphql/toolchains.test.ts",
  "test/create-portico/templates.test.ts",
  "test/tutorial.test.ts",
  "test/quick-start.test.ts",
];

/** Starts the longest test files first, so that none of them runs alone at the end while a core is idle. */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not the method of an array
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = LONG.findIndex((file) => moduleId.endsWith(file));
  return at < 0 ? LONG.length : at;
}
