import { mkdirSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { bookshopTarget } from "./fuzz/bookshop-target.ts";
import { MAX_DELAY_MS } from "./fuzz/checks.ts";
import { corpusInputs } from "./fuzz/corpus-inputs.ts";
import { FuzzRun } from "./fuzz/fuzz-run.ts";
import { generators } from "./fuzz/generators.ts";
import type { Input } from "./fuzz/input.ts";
import { learn } from "./fuzz/known.ts";
import { inputsOfLoad } from "./fuzz/load-inputs.ts";
import { describeFailure, table } from "./fuzz/print-results.ts";
import { propertySeed } from "./seeds/property-seed.ts";

// npm run loop -- [--inputs 50000] [--seed 7] [--short]
// Sends inputs to the bookshop and checks that none of them holds the main thread for 50 ms of CPU time: every row of the
// corpora, the largest requests that the limits allow, and the inputs of every generator.

const SHORT_INPUTS = 8_000;
const GROUP = 100;
/** Access tokens are valid for ten minutes. */
const LEARN_MS = 240_000;

const { values } = parseArgs({
  options: { inputs: { type: "string" }, seed: { type: "string" }, short: { type: "boolean", default: false } },
});
const most = Number(values.inputs ?? (values.short ? SHORT_INPUTS : 50_000));
const seed = propertySeed(values.seed);

const { target, close } = await bookshopTarget();
try {
  const run = new FuzzRun(target, (failure) => console.log(describeFailure(failure, "no file")));
  run.learn(await learn(target.port, 0));
  for (const one of inputsOfLoad()) await run.given("load", [one]);
  for (const group of groupsOf(corpusInputs())) await run.given("corpus", group);
  let learned = performance.now();
  for (let round = 0; run.inputs < most; round++) {
    for (const [index, generator] of generators.entries())
      if (run.inputs < most) await run.group(generator, (seed + round * generators.length + index) | 0);
    if (performance.now() - learned < LEARN_MS) continue;
    run.learn(await learn(target.port, round));
    learned = performance.now();
  }
  report(run);
} finally {
  await close();
}

function groupsOf(inputs: readonly Input[]): readonly (readonly Input[])[] {
  return Array.from({ length: Math.ceil(inputs.length / GROUP) }, (_, at) =>
    inputs.slice(at * GROUP, (at + 1) * GROUP),
  );
}

function report(run: FuzzRun): void {
  console.log(table(run.tallies));
  const late = run.failures.filter(({ check }) => check === "delay");
  const longest = Math.max(...[...run.tallies.values()].map(({ longestDelayMs }) => longestDelayMs));
  mkdirSync(".cache", { recursive: true });
  writeFileSync(
    ".cache/loop.json",
    `${JSON.stringify({ seed, inputs: run.inputs, longest, failures: run.failures.length })}\n`,
  );
  console.log(
    `loop: ${run.inputs} inputs, ${late.length} above ${MAX_DELAY_MS} ms, ${run.failures.length - late.length} other failures, longest ${longest.toFixed()} ms of CPU in one group, seed ${seed}`,
  );
  if (run.failures.length > 0 || run.inputs === 0) process.exitCode = 1;
}
