import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folders } from "./folders.ts";
import { type Entry, Journal } from "./journal.ts";
import { outcomesIn } from "./score.ts";
import type { Selection } from "./selection.ts";

const root = join(import.meta.dirname, "../..");
/** A process that has written nothing for so long is in an endless loop. */
const TIMEOUT_MS = 40_000;
const SLOW_TIMEOUT_MS = 120_000;
/** A mutant that fewer tests than this reach is also judged by the slow tests. */
const FEW_TESTS = 5;
/** A process ends when a mutant has left something behind that makes tests fail. */
const MAX_PROCESSES = 400;

/** The file that the processes of a run write to. */
export function journalIn(place: string): string {
  return join(place, "journal.jsonl");
}

interface Run {
  /** Where the instrumented files of the folder are. */
  readonly place: string;
  readonly mutants: readonly string[];
  /** A pattern. Of the tests of the folder, only those that match it run. */
  readonly tests: string;
  readonly shards: number;
  /** Replaces the tests of the folder. */
  readonly selection?: Selection;
}

/** Runs the tests of a folder with each of the mutants. */
export async function judge(
  folder: string,
  { place, mutants, tests, shards, selection }: Run,
): Promise<readonly Entry[]> {
  const journal = journalIn(place);
  rmSync(journal, { force: true });
  if (mutants.length === 0) return [];
  const selected = selection === undefined ? "" : join(place, "selection.json");
  if (selected !== "") writeFileSync(selected, JSON.stringify(selection));
  const run = async (ids: readonly string[], name: string, own: NodeJS.ProcessEnv): Promise<unknown> => {
    if (ids.length === 0) return;
    const list = join(place, `mutants${name}.json`);
    writeFileSync(list, JSON.stringify(ids));
    const env = {
      ...process.env,
      PORTICO_FOLDER: folder,
      PORTICO_INSTRUMENTED: place,
      PORTICO_MUTANTS: list,
      PORTICO_TESTS: tests,
      PORTICO_SELECTION: selected,
      PORTICO_JOURNAL: journal,
      PORTICO_SHARDS: String(shards),
      ...own,
    };
    const all = Array.from({ length: shards }, (_, shard) => String(shard));
    return Promise.all(all.map((shard) => runShard(shard, env, journal, `${name}${shard}`)));
  };
  const entries = (): readonly Entry[] => new Journal(journal, "").entries();
  await run(mutants, "", {});
  if (folders[folder]?.testsOfGraphql17 !== undefined) await run(mutants, "graphql17-", { PORTICO_GRAPHQL: "17" });
  if (selection === undefined && !entries().some(({ kind }) => kind === "done"))
    throw new Error(`no test ran: see ${journal}.0.log`);
  const few = selection === undefined ? FEW_TESTS : Number.POSITIVE_INFINITY;
  await run(hardlyReached(mutants, entries(), few), "slow-", { PORTICO_SLOW: "1" });
  return entries();
}

/** The mutants that no test has noticed, and few have reached. */
function hardlyReached(mutants: readonly string[], entries: readonly Entry[], few: number): readonly string[] {
  const { killed, tests } = outcomesIn(entries);
  return mutants.filter((id) => !killed.has(id) && (tests.get(id) ?? 0) < few);
}

/** @param name the name of the process in the journal */
async function runShard(shard: string, env: NodeJS.ProcessEnv, file: string, name: string): Promise<void> {
  const journal = new Journal(file, name);
  const output = openSync(`${file}.${name}.log`, "w");
  const args = [join(root, "node_modules/vitest/vitest.mjs"), "run", "--config", "lab/mutation/vitest.config.ts"];
  for (let isOver = false, count = 0; !isOver && count < MAX_PROCESSES; count++) {
    const before = journal.entries().length;
    const own = { ...env, PORTICO_SHARD: shard, PORTICO_PROCESS: name };
    const options = { cwd: root, env: own, detached: true } as const;
    const child = spawn(process.execPath, args, { ...options, stdio: ["ignore", output, output] });
    // Vitest starts a process of its own, which is in the same group.
    const stop = (): boolean => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
    process.once("exit", stop);
    const patience = env["PORTICO_SLOW"] === undefined ? TIMEOUT_MS : SLOW_TIMEOUT_MS;
    const watch = watchFor(journal, name, patience, stop);
    await once(child, "exit");
    clearInterval(watch);
    process.off("exit", stop);
    isOver = !journal
      .entries()
      .slice(before)
      .some((entry) => entry.kind === "restart" && entry.shard === name);
  }
}

/** Stops a process that is in an endless loop. The mutant that ran in it counts as noticed: the tests would never end. */
function watchFor(journal: Journal, shard: string, patienceMs: number, stop: () => unknown): NodeJS.Timeout {
  let last: Entry | undefined;
  let since = Date.now();
  return setInterval(() => {
    const latest = journal.entries().findLast((entry) => entry.shard === shard);
    if (latest !== last) since = Date.now();
    last = latest;
    if (Date.now() - since < patienceMs * (latest?.kind === "trying" ? 1 : 15)) return;
    if (latest?.kind === "trying") journal.append({ ...latest, kind: "killed", reason: "hung" });
    journal.append({ kind: "restart" });
    stop();
  }, 2000);
}
