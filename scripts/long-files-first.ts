import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take more than half a minute, the longest first. */
const LONG = [
  "test/kernel/access/gate-matrix.test.ts",
  "test/docs.servers.test.ts",
  "test/redis/many-servers.servers.test.ts",
  "examples/bookshop/test/shop.browser.test.ts",
  "test/system/tracker/tracker.database.test.ts",
  "test/graphql/toolchains.servers.test.ts",
  "test/create-portico/templates.servers.test.ts",
  "test/tutorial.servers.test.ts",
  "test/quick-start.servers.test.ts",
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
