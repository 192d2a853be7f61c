import { hash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";

/** The files that one test file depended on when it last passed. */
export interface TestRecord {
  /** The files whose code it ran or whose content it read, each with its digest at that time. */
  readonly files: Readonly<Record<string, string>>;
  /** The folders whose entries it listed. A file added below one of them can change the result. */
  readonly listed: readonly string[];
  /** Whether it started a process or a thread. What runs there as a build of the sources is not in `files`. */
  readonly spawned: boolean;
}

/** The folder of the records, with one file for each test file. */
export const recordsFolder = ".cache/affected";

/** Reads every record below `root`, by the path of its test file. */
export function readRecords(root: string): Map<string, TestRecord> {
  const folder = join(root, recordsFolder);
  const names = globSync("**/*.json", { cwd: folder }).map((name) => name.replaceAll(sep, "/"));
  return new Map(
    names.map((name) => [
      name.slice(0, -".json".length),
      JSON.parse(readFileSync(join(folder, name), "utf8")) as TestRecord,
    ]),
  );
}

export function writeRecord(root: string, test: string, record: TestRecord): void {
  const path = recordPath(root, test);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(record));
}

export function removeRecord(root: string, test: string): void {
  rmSync(recordPath(root, test), { force: true });
}

/** The digest of a file's content. It is empty if there is no such file. */
export function fileDigest(path: string): string {
  try {
    return hash("sha1", readFileSync(path), "hex").slice(0, 16);
  } catch {
    return "";
  }
}

function recordPath(root: string, test: string): string {
  return join(root, recordsFolder, `${test}.json`);
}
