import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join, matchesGlob, sep } from "node:path";
import { parseArgs } from "node:util";
import { changedLines } from "./mutation/changed-lines.ts";
import { checkSelection } from "./mutation/check-selection.ts";
import { explanationOf, isSame, readExplained } from "./mutation/explained.ts";
import { folders } from "./mutation/folders.ts";
import { inSample } from "./mutation/in-sample.ts";
import { instrument, type MutatedFile } from "./mutation/instrument.ts";
import { type Entry, Journal } from "./mutation/journal.ts";
import { journalIn, judge } from "./mutation/judge.ts";
import { interval, type Score, scoreOf, survivorOf } from "./mutation/score.ts";

// Changes the code a little, mutant by mutant, and runs the tests each time: a mutant that no test notices survives.
// Stryker's instrumenter puts the mutants in. It is a package of its own: run "npm ci --prefix tools/mutation" first.
//   npm run mutation                                            every mutant of every folder
//   npm run mutation -- --folder auth --sample 0.1 --seed 1     a tenth of one folder, always the same tenth for a seed
//   npm run mutation -- --folder http --file "src/kernel/pages/*" every mutant of some files
//   npm run mutation -- --folder auth --survivors               the mutants that survived the last run, or were not run
//   npm run mutation -- --changed origin/main                   the lines that changed since a commit
//   npm run mutation -- --tests-of 60                           whether npm run tests-of selects enough, for 60 files
const { values } = parseArgs({
  options: {
    folder: { type: "string", multiple: true, default: Object.keys(folders) },
    file: { type: "string", default: "src/**" },
    test: { type: "string", default: "test/**" },
    sample: { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
    survivors: { type: "boolean", default: false },
    changed: { type: "string" },
    "tests-of": { type: "string" },
    each: { type: "string", default: "5" },
    whole: { type: "string", default: "0" },
  },
});

/** The lowest share of mutants that the tests of a folder have to notice. */
const LOWEST = 0.85;
/** If a change has more mutants than this, only some of them are run, so that it takes about a minute. */
const MAX_CHANGED = 100;
const SHARDS = 2;

const root = join(import.meta.dirname, "..");
const changed = values.changed === undefined ? undefined : changedLines(values.changed);
const explained = readExplained();
const results: string[] = [];
let unexplained = 0;
let isLow = false;

/** Writes the result so far, for a run that is stopped. */
let writeSoFar: () => void = () => {};
// The exit handlers stop the processes that run the tests.
for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, () => {
    writeSoFar();
    process.exit(1);
  });

const { file, seed, each, whole, "tests-of": selected } = values;
if (selected !== undefined) {
  const check = {
    files: Number(selected),
    each: Number(each),
    whole: Number(whole),
    seed,
    pattern: file,
    shards: SHARDS,
  };
  process.exit((await checkSelection(check)) > 0 ? 1 : 0);
}

for (const folder of values.folder) {
  const score = await scoreFolder(folder);
  if (score === undefined) continue;
  const open = report(score);
  unexplained += open;
  isLow ||= changed === undefined ? score.killed < score.total * LOWEST : open > 0;
  results.push(`${folder} ${summary(score)}`);
}

console.log(`mutation: ${results.join(", ") || "nothing to mutate"}; ${unexplained} unexplained survivors`);
if (isLow) process.exitCode = 1;

async function scoreFolder(folder: string): Promise<Score | undefined> {
  const sources = folders[folder]?.sources;
  if (sources === undefined) throw new Error(`--folder is one of ${Object.keys(folders).join(", ")}`);
  const isIn = (name: string): boolean => sources.some((source) => matchesGlob(name, `src/${source}`));
  const all: readonly MutatedFile[] =
    changed ?? globSync("src/**/*.ts", { cwd: root }).map((name) => ({ name: name.replaceAll(sep, "/") }));
  const files = all.filter(({ name }) => isIn(name) && matchesGlob(name, values.file));
  if (files.length === 0) return undefined;
  const place = join(root, ".cache/mutation", folder);
  const possible = await instrument(files, place);
  const share = changed === undefined ? Number(values.sample) : MAX_CHANGED / possible.length;
  if (!(share > 0)) throw new Error("--sample is a number above 0");
  const report = `${place}.json`;
  const last = values.survivors ? (JSON.parse(readFileSync(report, "utf8")) as Score) : undefined;
  const mutants = possible.filter((mutant) => {
    if (last !== undefined) {
      const named = survivorOf(mutant);
      return last.survivors.some((survivor) => isSame(survivor, named));
    }
    return mutant.status === undefined && inSample(mutant, { share, seed: values.seed });
  });
  console.log(`${folder}: ${mutants.length} of ${possible.length} mutants`);
  const before = last?.killed ?? 0;
  const write = (entries: readonly Entry[]): Score => {
    const score = scoreOf(mutants, entries);
    const sum = { ...score, killed: before + score.killed, total: before + score.total };
    writeFileSync(report, JSON.stringify({ ...values, ...sum }, null, 2));
    return sum;
  };
  writeSoFar = () =>
    console.log(`stopped: ${folder} ${summary(write(new Journal(journalIn(place), "").entries()))} so far`);
  const ids = mutants.map(({ id }) => id);
  const entries = await judge(folder, { place, mutants: ids, tests: values.test, shards: SHARDS });
  return write(entries);
}

function summary(score: Score): string {
  const [low, high] = interval(score);
  const share = score.total === 0 ? 1 : score.killed / score.total;
  const spread = values.sample === "1" ? "" : `, ${percent(low)} to ${percent(high)} %`;
  return `${percent(share)} % (${score.killed} of ${score.total}${spread})`;
}

function percent(part: number): string {
  return (part * 100).toFixed(1);
}

/** Prints the survivors without an explanation, and returns their number. */
function report({ survivors }: Score): number {
  const open = survivors.filter((survivor) => explanationOf(survivor, explained) === undefined);
  for (const { at, tests, ...survivor } of open) {
    console.log(`\n${survivor.file}:${at} (${tests} tests)\n${JSON.stringify(survivor)}`);
  }
  return open.length;
}
