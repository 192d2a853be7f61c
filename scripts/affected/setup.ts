import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { Session } from "node:inspector";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, type RunnerTask } from "vitest";
import { executedFiles } from "./executed-files.ts";
import { fileDigest, removeRecord, writeRecord } from "./test-record.ts";
import { watchFiles } from "./watch-files.ts";

/** What this process has depended on since it started. */
interface Recording {
  readonly session: Session;
  readonly files: Set<string>;
  readonly listed: Set<string>;
  /** Where the processes that it starts write what they run. */
  readonly processes: string;
  spawned: boolean;
}

const root = join(import.meta.dirname, "../..");

// Test files that share a process also share loaded modules and filled caches, so each of them gets what ran before it as well.
const place = globalThis as { affectedRecording?: Recording };
place.affectedRecording ??= startRecording();
const recording = place.affectedRecording;

// oxlint-disable-next-line no-empty-pattern -- Vitest accepts nothing else for a context that is not used
beforeAll(({}, { file }) => removeRecord(root, relativePath(file.filepath)));

// Vitest runs this after the hooks of the test file.
// oxlint-disable-next-line no-empty-pattern -- as above
afterAll(({}, { file }) => {
  takeCoverage(recording);
  takeProcesses(recording);
  // A test that failed or was left out did not run everything that it depends on.
  if (!file.tasks.every(hasPassed)) return;
  const files = [...recording.files]
    .filter(isOwn)
    .map(relativePath)
    .filter((path) => path !== "");
  writeRecord(root, relativePath(file.filepath), {
    files: Object.fromEntries(files.toSorted().map((path) => [path, fileDigest(join(root, path))])),
    listed: withoutNested([...recording.listed].filter(isOwn).map(relativePath)),
    spawned: recording.spawned,
  });
});

function startRecording(): Recording {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: false, detailed: false });
  const processes = mkdtempSync(join(tmpdir(), "portico-record-"));
  const started: Recording = { session, files: new Set(), listed: new Set(), processes, spawned: false };
  const loaded = `--import=${pathToFileURL(join(import.meta.dirname, "process-files.ts")).href}`;
  watchFiles({
    read: (path) => started.files.add(path),
    list: (path) => started.listed.add(path),
    spawn: (environment) => {
      started.spawned = true;
      // A test that sets this itself tests it.
      if (environment?.some((pair) => pair.startsWith("NODE_OPTIONS=")) === false)
        environment.push(`NODE_OPTIONS=${loaded}`, `PORTICO_RECORD_PROCESSES=${processes}`);
    },
  });
  return started;
}

/** Adds the files in which a function has run in other processes. A process that still runs has written it until now. */
function takeProcesses({ processes, files }: Recording): void {
  for (const name of readdirSync(processes))
    for (const url of readFileSync(join(processes, name), "utf8").split("\n"))
      if (url !== "") files.add(fileURLToPath(url));
  rmSync(processes, { recursive: true });
}

/** Adds the files in which a function has run. V8 reports each function once, so the earlier ones stay in the set. */
function takeCoverage({ session, files }: Recording): void {
  // A session on its own thread calls back before post returns.
  session.post("Profiler.takePreciseCoverage", (error, taken) => {
    if (error !== null) throw error;
    for (const file of executedFiles(taken.result)) files.add(file);
  });
}

function hasPassed(task: RunnerTask): boolean {
  if (task.type === "suite") return task.result?.state !== "fail" && task.tasks.every(hasPassed);
  return task.result?.state === "pass";
}

/** The folders that are not below another one of them. The empty path is the root. */
function withoutNested(folders: readonly string[]): string[] {
  return folders.filter((path) => !folders.some((folder) => isBelow(path, folder))).toSorted();
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && (folder === "" || path.startsWith(`${folder}/`));
}

/** Whether a file or folder belongs to the repository and is not an output or a dependency. */
function isOwn(path: string): boolean {
  const file = relativePath(path);
  return (
    !file.startsWith("..") && !/(?:^|\/)(?:node_modules|\.git)(?:\/|$)|^(?:\.cache|dist|coverage)(?:\/|$)/.test(file)
  );
}

function relativePath(path: string): string {
  return relative(root, path).replaceAll(sep, "/");
}
