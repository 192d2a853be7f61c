import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { bookshopTarget } from "./fuzz/bookshop-target.ts";
import { type Failure, FuzzRun } from "./fuzz/fuzz-run.ts";
import type { FuzzTarget } from "./fuzz/fuzz-target.ts";
import { generators } from "./fuzz/generators.ts";
import { readInputs, writeInputs } from "./fuzz/input-file.ts";
import { learn } from "./fuzz/known.ts";
import { MemoryLevel, megabytes } from "./fuzz/memory-level.ts";
import { describeFailure, showInput, table } from "./fuzz/print-results.ts";
import { propertySeed } from "./seeds/property-seed.ts";

// npm run fuzz -- [--minutes 5] [--inputs 100000] [--seed 7] [--short] [--only graphql] [--replay tokens:12:3:0 or a file]
// Sends hostile inputs to the bookshop, which runs in its own process, and checks the process after every group of inputs.
// Without --seed, PORTICO_SEED sets the inputs.

const FOLDER = ".cache/fuzz";
const RESULTS = ".cache/fuzz.json";
/** One round. */
const SHORT_INPUTS = 5_700;
const GROUPS_PER_ROUND = 2;
/** Access tokens are valid for ten minutes. */
const LEARN_SECONDS = 240;
const MAX_FAILURES = 20;

const { values } = parseArgs({
  options: {
    minutes: { type: "string" },
    inputs: { type: "string" },
    seed: { type: "string" },
    short: { type: "boolean", default: false },
    only: { type: "string" },
    replay: { type: "string" },
  },
});
const seed = propertySeed(values.seed);
const maxInputs = Number(values.inputs ?? (values.short ? SHORT_INPUTS : Number.POSITIVE_INFINITY));
const minutes = Number(values.minutes ?? (values.inputs === undefined && !values.short ? 5 : Number.POSITIVE_INFINITY));
let saved = 0;
const used = values.only === undefined ? generators : values.only.split(",").map(named);

mkdirSync(FOLDER, { recursive: true });
const { target, close } = await bookshopTarget();
try {
  if (values.replay === undefined) await fuzz();
  else await replay(target, values.replay);
} finally {
  await close();
}

async function fuzz(): Promise<void> {
  const run = new FuzzRun(target, (failure) => console.log(describeFailure(failure, save(failure))));
  const memory = new MemoryLevel();
  const start = performance.now();
  const seconds = (): number => (performance.now() - start) / 1_000;
  let isStopped = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => (isStopped = true));
  const isOver = (): boolean =>
    isStopped || run.inputs >= maxInputs || seconds() >= minutes * 60 || run.failures.length >= MAX_FAILURES;
  let learnedAt = Number.NEGATIVE_INFINITY;
  for (let round = 0; !isOver(); round++) {
    if (seconds() - learnedAt > LEARN_SECONDS) {
      run.learn(await learn(target.port, round));
      learnedAt = seconds();
    }
    for (let group = 0; group < GROUPS_PER_ROUND; group++)
      for (const [index, generator] of used.entries())
        if (!isOver()) await run.group(generator, seedOf(round, group, index));
    const growth = await memory.check(target);
    if (growth !== null)
      run.add({ check: "memory", detail: growth, generator: `round ${round}`, replay: null, inputs: [] });
    console.log(
      `round ${round}: ${run.inputs} inputs in ${seconds().toFixed()} s, heap ${megabytes(memory.heaps.at(-1) ?? 0)} MB, ${run.failures.length} failures`,
    );
  }
  report(run, memory, seconds());
}

function report(run: FuzzRun, { heaps }: MemoryLevel, seconds: number): void {
  console.log(table(run.tallies));
  const failures = run.failures.map(({ inputs: _inputs, ...failure }) => failure);
  const figures = {
    seed,
    inputs: run.inputs,
    seconds: Math.round(seconds),
    heaps,
    failures,
    generators: Object.fromEntries(run.tallies),
  };
  writeFileSync(RESULTS, `${JSON.stringify(figures, null, 2)}\n`);
  console.log(
    `fuzz: ${run.inputs} inputs, ${run.failures.length} failures, ${Math.round(run.inputs / seconds)} inputs per second, seed ${seed}`,
  );
  if (run.failures.length > 0 || run.inputs === 0) process.exitCode = 1;
}

function save({ inputs }: Failure): string {
  const file = `${FOLDER}/failure-${seed}-${saved++}.json`;
  writeInputs(file, inputs);
  return file;
}

async function replay(target: FuzzTarget, what: string): Promise<void> {
  const run = new FuzzRun(target, () => {});
  run.learn(await learn(target.port, 0));
  const [name = "", ofGroup = "", ...path] = what.split(":");
  const inputs = existsSync(what) ? readInputs(what) : [run.inputOf(named(name), Number(ofGroup), path.join(":"))];
  for (const input of inputs) {
    const faults = await run.examine(input);
    console.log(showInput(input));
    for (const { check, detail } of faults) console.log(`failure: ${check}: ${detail}`);
    if (faults.length > 0) process.exitCode = 1;
  }
  console.log(`fuzz: ${inputs.length} inputs replayed, ${process.exitCode === 1 ? "FAILED" : "0 failures"}`);
}

function named(name: string): (typeof generators)[number] {
  const generator = generators.find((known) => known.name === name);
  if (generator === undefined)
    throw new RangeError(`${name} is not one of ${generators.map((known) => known.name).join(", ")}`);
  return generator;
}

/** Every group has its own seed. */
function seedOf(round: number, group: number, index: number): number {
  return (seed + (round * GROUPS_PER_ROUND + group) * generators.length + index) | 0;
}
