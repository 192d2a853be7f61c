import { globSync } from "node:fs";
import { join, matchesGlob, relative } from "node:path";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import all from "../../vitest.config.ts";
import { folders } from "./folders.ts";
import { mutatedSources } from "./mutated-sources.ts";
import { isSlowFile, readSelection } from "./selection.ts";

// Set by judge.ts: the folder, where its instrumented files are, and which of the test files this process runs.
const { PORTICO_FOLDER = "", PORTICO_INSTRUMENTED = "", PORTICO_TESTS = "**" } = process.env;
const { PORTICO_SHARD = "0", PORTICO_SHARDS = "1" } = process.env;
const isGraphql17 = process.env["PORTICO_GRAPHQL"] === "17";
const isSlow = process.env["PORTICO_SLOW"] === "1";

const root = join(import.meta.dirname, "../..");
const folder = folders[PORTICO_FOLDER];
const usual = (isGraphql17 ? folder?.testsOfGraphql17 : folder?.tests) ?? [];
const patterns = isSlow ? [...usual, ...(folder?.slow ?? [])] : usual;
const selection = readSelection();
const selected = Object.keys(selection ?? {}).filter((file) => isSlowFile(file) === isSlow);
const files = (selection === undefined ? patterns : selected)
  .flatMap((pattern) => globSync(pattern, { cwd: root }).toSorted())
  .filter((file) => matchesGlob(file, PORTICO_TESTS))
  .filter((_, index) => index % Number(PORTICO_SHARDS) === Number(PORTICO_SHARD));

function placeOf({ moduleId }: TestSpecification): number {
  return files.indexOf(relative(root, moduleId));
}

/** Runs the files in the order in which the folder lists them. */
class ListedOrder extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    return specifications.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

const config: ViteUserConfig = defineConfig({
  root,
  resolve: all.resolve ?? {},
  plugins: [mutatedSources(PORTICO_INSTRUMENTED)],
  test: {
    include: files,
    // Vitest's own cache knows the files by their original text.
    fsModuleCachePath: join(PORTICO_INSTRUMENTED, isGraphql17 ? "vitest-cache-17" : "vitest-cache"),
    runner: "lab/mutation/mutant-runner.ts",
    setupFiles: ["lab/mutation/setup.ts"],
    sequence: { sequencer: ListedOrder },
    pool: "forks",
    maxWorkers: 1,
    // All files share one copy of the modules, so that they are loaded once. Selected files are of all kinds.
    isolate: selection !== undefined && isSlow,
    // A test with a mutant may hang, which is to be noticed soon.
    testTimeout: isSlow ? 60_000 : 5000,
    hookTimeout: 20_000,
    expect: { poll: { timeout: isSlow ? 20_000 : 2000 } },
    // Fewer random operations than usual, because each test runs many times, and fewer stores for the tests of a folder.
    env: { ...(selection === undefined && { PORTICO_TEST_PLACES: "memory" }), PORTICO_FUZZ: "60", PORTICO_SEED: "1" },
  },
});
export default config;
