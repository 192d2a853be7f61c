import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folders } from "./folders.ts";
import { type Entry, Journal } from "./journal.ts";

const root = join(import.meta.dirname, "../..");
/** A process that has written nothing for so long is in an endless loop. */
const PATIENCE_MS = 40_000;
/** A process ends when a mutant has left something behind that makes tests fail. */
const MOST_PROCESSES = 400;

/** The file that the processes of a run write to. */
export function journalIn(place: string): string {
  return join(place, "journal.jsonl");
}

/** Runs the tests of a folder with each of the mutants. `place` is where its instrumented files are. */
export async function judge(
  folder: string,
  place: string,
  mutants: readonly string[],
  shards: number,
): Promise<readonly Entry[]> {
  const journal = journalIn(place);
  const list = join(place, "mutants.json");
  rmSync(journal, { force: true });
  writeFileSync(list, JSON.stringify(mutants));
  const env = {
    ...process.env,
    PORTICO_FOLDER: folder,
    PORTICO_INSTRUMENTED: place,
    PORTICO_MUTANTS: list,
    PORTICO_JOURNAL: journal,
    PORTICO_SHARDS: String(shards),
  };
  if (mutants.length === 0) return [];
  const all = Array.from({ length: shards }, (_, shard) => String(shard));
  await Promise.all(all.map((shard) => runShard(shard, env, journal)));
  if (folders[folder]?.testsOfGraphql17 !== undefined) {
    const newer = { ...env, PORTICO_GRAPHQL: "17" };
    await Promise.all(all.map((shard) => runShard(shard, newer, journal, `graphql17-${shard}`)));
  }
  const entries = new Journal(journal, "").entries();
  if (!entries.some(({ kind }) => kind === "done")) throw new Error(`no test ran: see ${journal}.0.log`);
  return entries;
}

/** @param name the name of the process in the journal */
async function runShard(shard: string, env: NodeJS.ProcessEnv, file: string, name: string = shard): Promise<void> {
  const journal = new Journal(file, name);
  const output = openSync(`${file}.${name}.log`, "w");
  const args = [join(root, "node_modules/vitest/vitest.mjs"), "run", "--config", "scripts/mutation/vitest.config.ts"];
  for (let isOver = false, count = 0; !isOver && count < MOST_PROCESSES; count++) {
    const before = journal.entries().length;
    const own = { ...env, PORTICO_SHARD: shard, PORTICO_PROCESS: name };
    const options = { cwd: root, env: own, detached: true } as const;
    const child = spawn(process.execPath, args, { ...options, stdio: ["ignore", output, output] });
    // Vitest starts a process of its own, which is in the same group.
    const stop = (): boolean => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
    process.once("exit", stop);
    const watch = watchFor(journal, name, stop);
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
function watchFor(journal: Journal, shard: string, stop: () => unknown): NodeJS.Timeout {
  let last: Entry | undefined;
  let since = Date.now();
  return setInterval(() => {
    const latest = journal.entries().findLast((entry) => entry.shard === shard);
    if (latest !== last) since = Date.now();
    last = latest;
    if (Date.now() - since < PATIENCE_MS * (latest?.kind === "trying" ? 1 : 15)) return;
    if (latest?.kind === "trying") journal.append({ ...latest, kind: "killed", reason: "hung" });
    journal.append({ kind: "restart" });
    stop();
  }, 2000);
}
