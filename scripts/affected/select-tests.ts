import { ImportGraph } from "./import-graph.ts";
import type { TestRecord } from "./test-record.ts";

/** A file that differs from the commit that the selection is about. */
export interface ChangedFile {
  readonly path: string;
  readonly kind: "added" | "changed" | "removed";
  /** Whether loading the file, before or after the change, has an effect without a call or an import of one of its names. */
  readonly actsOnLoad: boolean;
}

/** The state of the repository that tests are selected from. */
export interface Repository {
  /** Every test file. */
  readonly tests: readonly string[];
  readonly records: ReadonlyMap<string, TestRecord>;
  readonly changed: readonly ChangedFile[];
  /** The digest that a file has now. */
  readonly digest: (path: string) => string;
  /** The text of each file below `test/`, of the configuration of the tests, and of the scripts that it imports. */
  readonly texts: ReadonlyMap<string, string>;
}

/** The selected test files, each with the reason. `everything` is the reason for selecting all of them, or null. */
export interface Selection {
  readonly everything: string | null;
  readonly tests: ReadonlyMap<string, string>;
}

// Their records say which tests they affect. Any other file selects everything.
const RECORDED = /^(?:src|packages|scripts|lab|examples|test|docs|spec|api)\/|^[^/]+\.md$/;
// Files that npm, TypeScript and Vitest read.
const CONFIGURATION = /(?:^|\/)(?:package(?:-lock)?\.json|tsconfig[^/]*\.json|vitest[^/]*\.ts)$/;
const TYPE_TEST = /\.test-d\.ts$/;

/** Selects the tests that a change can affect. It selects too many rather than too few. */
export function selectTests(repository: Repository): Selection {
  const { changed, tests } = repository;
  const graph = new ImportGraph(repository.texts);
  // Sources that a setup file imports are in the records.
  const harness = [...graph.importedBy("vitest.config.ts")].filter((path) => !path.startsWith("src/"));
  const selected = new Map<string, string>();
  for (const file of changed) {
    const found = harness.includes(file.path) ? "configures the tests" : affectedBy(file, repository, graph);
    if (typeof found === "string") return everything(tests, `${file.path} ${found}`);
    for (const test of found) if (!selected.has(test)) selected.set(test, `depends on ${file.path}`);
  }
  for (const [test, reason] of unrecorded(repository)) if (!selected.has(test)) selected.set(test, reason);
  return { everything: null, tests: new Map([...selected].filter(([test]) => tests.includes(test))) };
}

/** The tests that one file affects, or the reason why these could be all. */
function affectedBy(file: ChangedFile, { records, tests }: Repository, graph: ImportGraph): Set<string> | string {
  const { path, kind } = file;
  if (!RECORDED.test(path) || CONFIGURATION.test(path)) return "can affect every test";
  const isTest = isTestFile(path, tests);
  const isOfTests = isTest || path.startsWith("test/");
  if (!isOfTests && kind === "removed") return "was removed";
  if (!isOfTests && file.actsOnLoad) return "has an effect when it is loaded";
  const recorded = [...records].filter(([, { files }]) => Object.hasOwn(files, path)).map(([test]) => test);
  const importing = isOfTests ? [...graph.importersOf(path)].filter((test) => tests.includes(test)) : [];
  if (recorded.length + importing.length === 0 && !isTest) return "is in no record";
  const listing = kind === "changed" ? [] : [...records].filter(([, { listed }]) => isBelow(path, listed));
  return new Set([...recorded, ...importing, ...listing.map(([test]) => test)]);
}

/** The tests whose records do not say whether the change affects them. */
function unrecorded({ tests, records, changed, digest }: Repository): [string, string][] {
  const isCompiled = changed.some(({ path }) => path.endsWith("ts"));
  // A test file affects no other test, unless that one imports, reads or lists it.
  const others = changed.filter(({ path }) => !isTestFile(path, tests));
  const isOutside = others.some(({ path }) => !path.startsWith("test/"));
  return tests.flatMap((test): [string, string][] => {
    const record = records.get(test);
    if (TYPE_TEST.test(test)) return isCompiled ? [[test, "checks types"]] : [];
    if (record === undefined) return changed.length > 0 ? [[test, "has no record"]] : [];
    if (record.spawned && isOutside) return [[test, "starts processes"]];
    const isStale = Object.entries(record.files).some(([path, recorded]) => digest(path) !== recorded);
    return others.length > 0 && isStale ? [[test, "has a record older than a file in it"]] : [];
  });
}

/** Whether a path is that of a test file, which may have been removed. */
function isTestFile(path: string, tests: readonly string[]): boolean {
  return tests.includes(path) || /^test\/.*\.test(?:-d)?\.ts$/.test(path);
}

function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => folder === "" || path.startsWith(`${folder}/`));
}

function everything(tests: readonly string[], reason: string): Selection {
  return { everything: reason, tests: new Map(tests.map((test) => [test, reason])) };
}
