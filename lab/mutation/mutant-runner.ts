import { readFileSync } from "node:fs";
import { matchesGlob } from "node:path";
import { type RunnerTestCase, TestRunner, type TestTryOptions } from "vitest";
import { folders, reloadingTests, slowTests } from "./folders.ts";
import { type Entry, Journal } from "./journal.ts";
import { isSlowFile, readSelection } from "./selection.ts";

// Set by judge.ts: a file with the ids of the mutants to run, the journal, and the name of this process in it.
const { PORTICO_MUTANTS = "", PORTICO_JOURNAL = "", PORTICO_PROCESS = "0" } = process.env;
const { PORTICO_FOLDER = "", PORTICO_SLOW } = process.env;

/** What the instrumented code reads and writes. */
interface Switches {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  mutantCoverage?: { static: Record<string, number>; perTest: Record<string, Record<string, number>> };
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
}

type Step = "cover" | "repeat" | "mutant" | "recover";

// The modules under test keep the object that they find first.
const switches = (Reflect.get(globalThis, "__stryker__") ?? {}) as Switches;
Reflect.set(globalThis, "__stryker__", switches);
const wanted: ReadonlySet<string> = new Set(JSON.parse(readFileSync(PORTICO_MUTANTS, "utf8")) as string[]);
const selection = readSelection();
const journal = new Journal(PORTICO_JOURNAL, PORTICO_PROCESS);

/** The entries of this process and of those before it that ran the same tests with the same graphql. */
const ownEntries = (): readonly Entry[] => journal.entries().filter(({ shard }) => shard === PORTICO_PROCESS);

/** The mutants that have run in this process. A failure may be due to what one of them has left behind. */
const ran = new Set<string>();

/** The last error outside a test. Vitest keeps the process alive, and fails the run. */
let stray: string | undefined;
for (const event of ["uncaughtException", "unhandledRejection"]) {
  process.on(event, (error: unknown) => {
    stray = String(error);
  });
}

/**
 * Runs each test as it is, and then once more with every mutant that it reaches and that no test has noticed yet.
 * With a new process for each mutant, most of the time would go into loading modules.
 */
export default class MutantRunner extends TestRunner {
  #step: Step = "cover";
  #isOver = false;
  #mutant = "";
  #reason = "";
  #waiting: string[] = [];
  /** The mutants that made this test time out once. On a busy machine any test may. */
  readonly #slow = new Set<string>();
  #covered: readonly string[] = [];

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test);
    // Skipped without its hooks: those after a test may fail if those before it did not run.
    const isReloading = reloadingTests.some((part) => test.name.includes(part));
    if (isReloading || isSlow(test) !== (PORTICO_SLOW === "1") || isJudged(test) || hasNothingToJudge(test)) {
      test.mode = "skip";
      return;
    }
    this.#step = "cover";
    this.#isOver = false;
    this.#waiting = [];
    this.#slow.clear();
    this.#covered = [];
    // The test is skipped when no mutant is left, which ends the repetition.
    (test as { repeats?: number }).repeats = Number.POSITIVE_INFINITY;
  }

  override onBeforeTryTask(test: RunnerTestCase, options: TestTryOptions): void {
    super.onBeforeTryTask(test, options);
    // What runs under no id counts as run while modules are loaded.
    switches.currentTestId = "repeated";
    stray = undefined;
    if (options.repeats === 0) switches.currentTestId = test.id;
    else if (this.#step === "mutant") this.#activateNext(test);
  }

  override async onAfterRetryTask(test: RunnerTestCase, options: TestTryOptions): Promise<void> {
    await super.onAfterRetryTask(test, options);
    Object.assign(switches, { activeMutant: undefined, currentTestId: undefined, hitCount: undefined });
    const { result } = test;
    if (result === undefined || result.state === "skip" || this.#isOver) return;
    const failure = result.state === "fail" ? (result.errors?.at(-1)?.message ?? "") : stray;
    delete result.errors;
    this.#step = this.#following(test, failure);
  }

  override onAfterRunFiles(files: Parameters<TestRunner["onAfterRunFiles"]>[0]): void {
    super.onAfterRunFiles(files);
    const reached = Object.keys(switches.mutantCoverage?.static ?? {});
    journal.append({ kind: "static", mutants: reached.filter((id) => wanted.has(id)) });
  }

  /** The hooks after a test run once more. They may fail, because those before it did not run. */
  #end(test: RunnerTestCase): never {
    this.#isOver = true;
    return test.context.skip();
  }

  #activateNext(test: RunnerTestCase): void {
    const killed = new Set(journal.entries().flatMap((entry) => (entry.kind === "killed" ? [entry.mutant] : [])));
    this.#waiting = this.#waiting.filter((id) => !killed.has(id));
    const mutant = this.#waiting.shift();
    if (mutant === undefined) {
      journal.append({ kind: "done", test: test.id, covered: this.#covered });
      this.#end(test);
    }
    this.#mutant = mutant;
    journal.append({ kind: "trying", test: test.id, mutant });
    const hits = switches.mutantCoverage?.perTest[test.id]?.[mutant] ?? 0;
    Object.assign(switches, { activeMutant: mutant, hitCount: 0, hitLimit: Math.max(1000, hits * 100) });
  }

  #following(test: RunnerTestCase, failure: string | undefined): Step {
    switch (this.#step) {
      case "cover": {
        if (failure !== undefined) return this.#giveUp(test, failure);
        this.#covered = Object.keys(switches.mutantCoverage?.perTest[test.id] ?? {}).filter(
          (id) => wanted.has(id) && mayJudge(test, id),
        );
        const suspects = ownEntries().flatMap((entry) =>
          entry.kind === "suspect" && entry.test === test.id ? [entry.mutant] : [],
        );
        this.#waiting = [...new Set([...suspects, ...this.#covered])];
        return this.#waiting.length === 0 ? "mutant" : "repeat";
      }
      case "repeat":
        return failure === undefined ? "mutant" : this.#giveUp(test, failure);
      case "mutant":
        this.#reason = failure ?? "";
        ran.add(this.#mutant);
        return failure === undefined ? "mutant" : "recover";
      case "recover":
        this.#judge(test, failure === undefined);
        return "mutant";
    }
  }

  /** The mutant is to blame for a failure if the test passes again without it, or if no other ran before it. */
  #judge(test: RunnerTestCase, hasRecovered: boolean): void {
    const name = `${test.file.name} > ${test.name}`;
    if (hasRecovered && this.#reason.includes("timed out") && !this.#slow.has(this.#mutant)) {
      this.#slow.add(this.#mutant);
      this.#waiting.unshift(this.#mutant);
    } else if (hasRecovered || ran.size === 1) {
      journal.append({ kind: "killed", test: name, mutant: this.#mutant, reason: this.#reason.slice(0, 300) });
    } else journal.append({ kind: "suspect", test: test.id, mutant: this.#mutant });
    if (!hasRecovered) endProcess();
  }

  /** A test that fails without a mutant, also in a new process, judges none. */
  #giveUp(test: RunnerTestCase, failure: string): Step {
    if (ran.size > 0) endProcess();
    journal.append({ kind: "unusable", test: `${test.file.name} > ${test.name}`, reason: failure.slice(0, 300) });
    this.#covered = [];
    this.#waiting = [];
    return "mutant";
  }
}

function mayJudge({ file }: RunnerTestCase, id: string): boolean {
  return selection?.[file.name]?.includes(id) ?? selection === undefined;
}

/** Whether other tests have noticed all mutants that this one is selected for. */
function hasNothingToJudge({ file }: RunnerTestCase): boolean {
  const killed = new Set(journal.entries().flatMap((entry) => (entry.kind === "killed" ? [entry.mutant] : [])));
  return selection?.[file.name]?.every((id) => killed.has(id) || !wanted.has(id)) ?? false;
}

function isSlow({ name, file }: RunnerTestCase): boolean {
  if (selection !== undefined && isSlowFile(file.name)) return true;
  const isInSlowFile = folders[PORTICO_FOLDER]?.slow?.some((pattern) => matchesGlob(file.name, pattern)) ?? false;
  return isInSlowFile || slowTests.some((part) => name.includes(part));
}

function isJudged({ id }: RunnerTestCase): boolean {
  return ownEntries().some((entry) => entry.kind === "done" && entry.test === id);
}

// Vitest keeps process.exit from working.
function endProcess(): void {
  journal.append({ kind: "restart" });
  process.kill(process.pid, "SIGKILL");
}
