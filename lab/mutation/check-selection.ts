import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { join, matchesGlob, sep } from "node:path";
import { readRecords, type TestRecord } from "../../scripts/affected/test-record.ts";
import { folders } from "./folders.ts";
import { instrument, type Mutant } from "./instrument.ts";
import { judge } from "./judge.ts";
import { outcomesIn, survivorOf } from "./score.ts";
import { noticedBy } from "./whole-suite.ts";

export interface SelectionCheck {
  /** How many source files are chosen, and how many mutants of each. */
  readonly files: number;
  readonly each: number;
  readonly seed: string;
  /** Only source files that match it are chosen. */
  readonly pattern: string;
  /** How many of the mutants that nothing has noticed are tried with the whole suite. */
  readonly whole: number;
  readonly shards: number;
}

type Records = ReadonlyMap<string, TestRecord>;

const root = join(import.meta.dirname, "../..");
const place = join(root, ".cache/mutation/selection");

/** Prints the mutants that the tests of `npm run tests-of` miss and other tests notice. Returns their number. */
export async function checkSelection(check: SelectionCheck): Promise<number> {
  const records: Records = readRecords(root);
  if (records.size === 0) throw new Error("there are no records of tests: run PORTICO_RECORD=1 npm test first");
  const began = Date.now();
  const mutants = await chosenMutants(check);
  const selected = testsByMutant(mutants, ({ fileName }) => testsOf(fileName, records));
  const first = await run("selected", mutants, selected, check);
  console.log(
    `tests-of: ${first.killed.size} of ${mutants.length} mutants noticed, ${first.loaded.length} only loaded`,
  );
  const others = testsByMutant(first.survivors, ({ fileName }) => otherTests(fileName, records));
  const second = await run("others", first.survivors, others, check);
  const missed = first.survivors.flatMap((mutant) => {
    const test = second.killed.get(mutant.id);
    return test === undefined ? [] : [{ mutant, test }];
  });
  for (const mutant of shuffled(second.survivors, check.seed, idOf).slice(0, check.whole)) {
    const test = noticedBy(mutant.id, place);
    // A test that fails without the mutant as well has not noticed it.
    if (test !== null && noticedBy(null, place, [test]) === null) missed.push({ mutant, test });
  }
  for (const { mutant, test } of missed)
    console.log(`\nmissed, noticed by ${test}\n${JSON.stringify(survivorOf(mutant))}`);
  const perMutant = (Date.now() - began) / 1000 / Math.max(1, mutants.length);
  console.log(
    `mutation: ${missed.length} of ${mutants.length} mutants missed by tests-of; ${perMutant.toFixed(1)} s each`,
  );
  return missed.length;
}

/** The same files and mutants for a seed, whatever else is in the repository. */
async function chosenMutants({ files, each, seed, pattern }: SelectionCheck): Promise<readonly Mutant[]> {
  const sources = globSync("src/**/*.ts", { cwd: root })
    .map((file) => file.replaceAll(sep, "/"))
    .filter((file) => !file.endsWith(".d.ts") && matchesGlob(file, pattern));
  const chosen: Mutant[] = [];
  const names: string[] = [];
  // A file of types has no mutants.
  for (const name of shuffled(sources, seed, (file) => file)) {
    const mutants = await instrument([{ name }], place);
    if (mutants.length > 0) names.push(name);
    if (names.length === files) break;
  }
  const all = await instrument(
    names.map((name) => ({ name })),
    place,
  );
  for (const name of names)
    chosen.push(
      ...shuffled(
        all.filter(({ fileName }) => fileName === name),
        seed,
        textOf,
      ).slice(0, each),
    );
  return chosen;
}

const idOf = ({ id }: Mutant): string => id;

function textOf({ fileName, location, mutatorName, replacement }: Mutant): string {
  return JSON.stringify([fileName, location, mutatorName, replacement]);
}

function shuffled<T>(items: readonly T[], seed: string, name: (item: T) => string): readonly T[] {
  const place = (item: T): string =>
    createHash("sha256")
      .update(`${seed} ${name(item)}`)
      .digest("hex");
  return items.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
}

/** The tests that `npm run tests-of` prints, those in the folder of the same name first. */
export function testsOf(file: string, records: Records): readonly string[] {
  const tests = [...records].filter(([, { files }]) => Object.hasOwn(files, file)).map(([test]) => test);
  return tests.toSorted((a, b) => distance(a, file) - distance(b, file));
}

function distance(test: string, file: string): number {
  const path = file.split("/").slice(1, -1);
  const shared = test
    .split("/")
    .slice(1)
    .findIndex((name, at) => name !== path[at]);
  return -shared;
}

/** The tests of the part that the file belongs to which are not among those of `testsOf`. */
export function otherTests(file: string, records: Records): readonly string[] {
  const isIn = ({ sources }: { readonly sources: readonly string[] }): boolean =>
    sources.some((source) => matchesGlob(file, `src/${source}`));
  const patterns = Object.values(folders).find(isIn)?.tests ?? [`test/${file.split("/")[1] ?? ""}/**/*.test.ts`];
  const selected = new Set(testsOf(file, records));
  return patterns.flatMap((pattern) => globSync(pattern, { cwd: root })).filter((test) => !selected.has(test));
}

function testsByMutant(
  mutants: readonly Mutant[],
  testsFor: (mutant: Mutant) => readonly string[],
): Readonly<Record<string, readonly string[]>> {
  const selection: Record<string, string[]> = {};
  for (const mutant of mutants) for (const test of testsFor(mutant)) (selection[test] ??= []).push(mutant.id);
  return selection;
}

interface Outcome {
  /** The test that has noticed each mutant. */
  readonly killed: ReadonlyMap<string, string>;
  readonly survivors: readonly Mutant[];
  /** The mutants that only run while modules are loaded, which no test can run again. */
  readonly loaded: readonly Mutant[];
}

async function run(
  name: string,
  mutants: readonly Mutant[],
  selection: Readonly<Record<string, readonly string[]>>,
  { shards }: SelectionCheck,
): Promise<Outcome> {
  const ids = mutants.map(idOf);
  const entries = await judge(name, { place, mutants: ids, tests: "**", shards, selection });
  const killed = new Map(entries.flatMap((entry) => (entry.kind === "killed" ? [[entry.mutant, entry.test]] : [])));
  const { tests } = outcomesIn(entries);
  const onLoad = new Set(entries.flatMap((entry) => (entry.kind === "static" ? entry.mutants : [])));
  const left = mutants.filter(({ id }) => !killed.has(id));
  const isLoaded = ({ id }: Mutant): boolean => onLoad.has(id) && !tests.has(id);
  return { killed, survivors: left.filter((mutant) => !isLoaded(mutant)), loaded: left.filter(isLoaded) };
}
