import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { tally } from "../../scripts/tally.ts";
import { propertySeed } from "../seeds/property-seed.ts";
import { bringNode } from "./bring-node.ts";
import { addFailingSeeds, failingSeeds, type TestReport } from "./failing-seeds.ts";

// node lab/nightly/run-tests.ts [--node 22] [--keep-seeds] -- test/graphql
// Runs tests with Vitest, and prints the count of them last. With --keep-seeds, failing tests are added to spec/failing-seeds.json.

const REPORT = ".cache/nightly/tests.json";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { node: { type: "string" }, "keep-seeds": { type: "boolean", default: false } },
});
const node = values.node === undefined ? null : bringNode(Number(values.node));
mkdirSync(".cache/nightly", { recursive: true });
rmSync(REPORT, { force: true });
const reporters = ["default", "./scripts/retried-reporter.ts", "json"].map((name) => `--reporter=${name}`);
const { status } = spawnSync(
  node === null ? process.execPath : "node",
  [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--typecheck.enabled=false",
    ...reporters,
    `--outputFile.json=${REPORT}`,
    ...positionals,
  ],
  // As in the gate, a browser or server that is missing makes tests fail.
  { stdio: "inherit", env: { ...process.env, CI: "true", ...node?.environment } },
);
if (!existsSync(REPORT)) throw new Error(`Vitest ended with ${status} and wrote no report`);
const report = JSON.parse(readFileSync(REPORT, "utf8")) as TestReport;
const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
if (values["keep-seeds"]) keepSeeds();
// A run in which every test was skipped shows nothing.
if (status !== 0 || !tests.some((test) => test.status === "passed")) process.exitCode = 1;
console.log(`${tally(tests)}${node === null ? "" : `, Node ${node.version.slice(1)}`}${seedOfRun()}`);

function keepSeeds(): void {
  const day = new Date().toISOString().slice(0, 10);
  for (const { file, test, seed } of addFailingSeeds(failingSeeds(report, propertySeed(), day, process.cwd())))
    console.log(`kept in spec/failing-seeds.json: PORTICO_SEED=${seed} for "${test}" in ${file}`);
}

function seedOfRun(): string {
  return process.env["PORTICO_SEED"] === undefined ? "" : `, seed ${propertySeed()}`;
}
